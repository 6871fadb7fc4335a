import { describe, expect, it } from "vitest";
import { logConformance } from "@moora/event-log/testing";
import { useWorkerd } from "./workerd.ts";

const workerd = useWorkerd("log-worker", { CASES: "LogCase" });

/** Runs a case in an object of its own. */
async function resultOf(name: string, index: number): Promise<string> {
  const response = await workerd.dispatchFetch(`http://localhost/case-${index}`, {
    method: "POST",
    body: name,
  });
  return await response.text();
}

const cases = logConformance(["rewrite", "damageHeader", "damageSnapshot", "raiseFormat"]);

describe("(B13) the durable-object log under workerd", () => {
  it.each(cases.map(({ name }, index) => ({ name, index })))("$name", async ({ name, index }) => {
    expect(await resultOf(name, index)).toBe("ok");
  });
});
