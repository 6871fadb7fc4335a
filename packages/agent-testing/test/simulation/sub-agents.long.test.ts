import { describe, expect, it } from "vitest";
import { simulate, simulateActions, type SimAction } from "../../src/index.ts";
import { leadingAgent } from "@moora/testbed/leading-agent";

const call = (name: string): SimAction => ({
  type: "model-answers",
  answer: { kind: "calls", calls: [{ name, arguments: '{"task":"Dig."}' }] },
});
const message: SimAction = { type: "message", text: "Hello." };

/** What happens where the caller is canceled at a passage of the logs of its sub-agents; undefined if there are fewer passages. */
async function canceledAt(
  passage: number,
  before: readonly SimAction[],
  after: readonly SimAction[],
): Promise<readonly string[] | undefined> {
  const cancel: SimAction = { type: "cancel-sub-agent", passage };
  const { failure, story } = await simulateActions(leadingAgent, { actions: [...before, cancel, ...after] });
  expect(failure).toBeUndefined();
  const lines = story.map(({ what, control }) => `${control}: ${what}`);
  return lines.some((line) => line.endsWith("in a step of a sub-agent")) ? lines : undefined;
}

describe("a simulated session with sub-agents at two levels", () => {
  it("breaks no law and no invariant", async () => {
    const faults = ["cancel", "crash", "close", "takeover", "pause", "forged-decision", "tool:failure"];
    const report = await simulate(leadingAgent, { seed: 1, runs: 60, faults });
    expect(report.failure, report.toText()).toBeUndefined();
    expect(report.neverCame).toEqual([]);
  });

  it("is canceled at each step of the creation of a sub-agent", async () => {
    let passage = 1;
    while ((await canceledAt(passage, [message], [call("lead"), call("worker")])) !== undefined) passage += 1;
    expect(passage).toBeGreaterThan(30);
  });

  it("is canceled at each step of the restoration of a sub-agent", async () => {
    const before = [message, call("lead"), call("worker"), { type: "crash" } as const];
    let passage = 1;
    while ((await canceledAt(passage, before, [{ type: "take-up" }])) !== undefined) passage += 1;
    expect(passage).toBeGreaterThan(30);
  });

  it("asks the questions of its sub-agents, and answers them", async () => {
    const { failure, story } = await simulateActions(leadingAgent, {
      actions: [
        message,
        call("helper"),
        { type: "model-answers", answer: { kind: "calls", calls: [{ name: "sign", arguments: '{"n":1}' }] } },
        { type: "decide", decision: "approve", forged: true },
        { type: "decide", decision: "approve" },
        { type: "tool-answers", answer: { kind: "success" } },
      ],
    });
    expect(failure).toBeUndefined();
    expect(story.map(({ what }) => what)).toContain("call call_1 of sign ends: success");
  });
});
