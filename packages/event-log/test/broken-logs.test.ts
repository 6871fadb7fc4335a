import { describe, expect, it } from "vitest";
import { logConformance, memoryLogStorage, UnmetExpectation } from "../src/testing/index.ts";
import { brokenLogs } from "./broken/broken-logs.ts";

const cases = new Map(logConformance(["rewrite", "damageHeader"]).map((logCase) => [logCase.name, logCase]));

describe("(B13) a log with one fault fails its conformance case", () => {
  it.each(brokenLogs)("a log that $name: $fails", async ({ failingCase, storage }) => {
    const named = cases.get(failingCase);
    expect(named).toBeDefined();
    await expect(named?.run(memoryLogStorage())).resolves.toBeUndefined();
    await expect(named?.run(storage())).rejects.toBeInstanceOf(UnmetExpectation);
  });

  it("there are at least twelve such logs", () => {
    expect(new Set(brokenLogs.map(({ name }) => name)).size).toBeGreaterThanOrEqual(12);
  });
});
