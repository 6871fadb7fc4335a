import { describe, expect, it } from "vitest";
import type { FiredEvent } from "../src/control/enter.ts";
import { transitionTable } from "../src/index.ts";

const failure = { source: "loop", kind: "MaxSteps", message: "" } as const;

describe("an event that fires from a state", () => {
  it("is one of the events of its row", () => {
    const fired: FiredEvent<"Planning"> = { event: "LlmFinalAnswer" };
    // @ts-expect-error The event is misspelt.
    const misspelt: FiredEvent<"Planning"> = { event: "LlmFinalAnswr" };
    // @ts-expect-error Acting has no such event.
    const foreign: FiredEvent<"Acting"> = { event: "LlmFinalAnswer" };
    expect(Object.keys(transitionTable.Planning)).toContain(fired.event);
    expect(Object.keys(transitionTable.Planning)).not.toContain(misspelt.event);
    expect(Object.keys(transitionTable.Acting)).not.toContain(foreign.event);
  });

  it("has a failure if it leads to Error, and only then", () => {
    const failed: FiredEvent<"Planning"> = { event: "MaxSteps", failure };
    // @ts-expect-error The failure is missing.
    const withoutFailure: FiredEvent<"Planning"> = { event: "MaxSteps" };
    // @ts-expect-error The event leads to Done.
    const withFailure: FiredEvent<"Planning"> = { event: "LlmFinalAnswer", failure };
    expect(transitionTable.Planning[failed.event]).toBe("Error");
    expect(withoutFailure).not.toHaveProperty("failure");
    expect(transitionTable.Planning[withFailure.event]).toBe("Done");
  });

  it("is any event where the state is a custom one", () => {
    const fired: FiredEvent<"Custom"> = { event: "Charged" };
    expect(fired.event).toBe("Charged");
  });

  it("is an event that each state has, where it may be one of several", () => {
    const fired: FiredEvent<"Acting" | "Reflecting"> = { event: "Cancelled", failure };
    // @ts-expect-error Reflecting has no such event.
    const foreign: FiredEvent<"Acting" | "Reflecting"> = { event: "ToolSuccess" };
    expect(Object.keys(transitionTable.Reflecting)).toContain(fired.event);
    expect(Object.keys(transitionTable.Reflecting)).not.toContain(foreign.event);
  });
});
