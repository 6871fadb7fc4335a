import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentTool, askHuman, defineAgent, exportSession, openSession } from "@moora/agent";
import { goldenLogs, replayPortable } from "@moora/agent-testing";
import { memoryLog } from "@moora/event-log";
import { callsTools, MockLlmCaller } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** The export of a session whose sub-agent asks a person. */
async function portable(): Promise<string> {
  const log = memoryLog();
  const asks = callsTools([{ name: "ask_human", arguments: { question: "May I?" } }]);
  const worker = defineAgent({ name: "worker", llm: new MockLlmCaller([asks]), tools: [askHuman()] });
  const delegates = callsTools([{ name: "work", arguments: { task: "Do it." } }]);
  const agent = defineAgent({
    name: "boss",
    llm: new MockLlmCaller([delegates]),
    tools: [agentTool(worker, { name: "work", description: "Works.", log })],
  });
  const session = await openSession(agent, { log, id: "ada", onError: () => undefined });
  session.onEvent(() => undefined);
  await session.send("Go.");
  await untilPasses(() => expect(session.questions()).toHaveLength(1));
  await session.close();
  return await exportSession(log, "ada");
}

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moora-open-calls-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a recorded session with an open call of a sub-agent", () => {
  it("is replayed", async () => {
    const { state } = await replayPortable(await portable());
    expect(state.reActContext.control.type).toBe("Acting");
    expect(state.toolCalls["call_1"]).toMatchObject({ name: "work", result: null });
  });

  it("is a golden log beside others", async () => {
    writeFileSync(join(folder, "open-call.jsonl"), await portable());
    expect(await goldenLogs(folder, { update: true })).toMatchObject({ ok: true });
    expect(await goldenLogs(folder)).toMatchObject({ ok: true, sessions: 1 });
  });
});
