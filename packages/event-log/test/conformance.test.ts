import { describe, expect, it } from "vitest";
import { logConformance } from "../src/testing/index.ts";
import { checkCase, everything, isProof, relaxedStores, stores } from "@moora/testbed/stores";

describe.each(isProof ? [...stores, ...relaxedStores] : stores)(
  "(B13) the $name log",
  ({ storageOf, abilities }) => {
    it.each(logConformance(abilities))("$name", async (logCase) => checkCase(logCase, storageOf()));
  },
);

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
