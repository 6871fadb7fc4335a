import { describe, expect, it } from "vitest";
import { logConformance } from "../src/testing/index.ts";
import { isProof } from "@moora/testbed/sample";
import { checkCase, everything, optionalPartsOf, relaxedStores, stores } from "@moora/testbed/stores";

describe.each(isProof ? [...stores, ...relaxedStores] : stores)(
  "(B13) the $name log",
  ({ storageOf, abilities }) => {
    it.each(logConformance(abilities))("$name", async (logCase) => checkCase(logCase, storageOf()));
  },
);

describe("the optional parts, without which a log passes the suite", () => {
  const stored = ["due", "blobs"];
  const partsOf: Readonly<Record<string, readonly string[]>> = {
    memory: ["page", "called", ...stored, "live"],
    jsonl: ["blobs"],
    sqlite: ["page", "called", ...stored],
  };

  it.each(stores)("are those that the $name log is known for", async ({ name, storageOf }) => {
    const storage = storageOf();
    const parts = optionalPartsOf(await storage.open());
    await storage.dispose();
    expect(parts).toEqual(partsOf[name]);
  });
});

describe("the suite", () => {
  it("has at least a hundred cases", () => {
    expect(logConformance([]).length).toBeGreaterThan(100);
  });

  it("names each case once", () => {
    const names = logConformance(everything).map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it("leaves out only the cases that need a missing ability", () => {
    const left = logConformance(everything).filter((logCase) => !logConformance([]).includes(logCase));
    expect(new Set(left.map(({ needs }) => needs))).toEqual(new Set(everything));
  });
});
