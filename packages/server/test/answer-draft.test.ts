import { startSession, type AgentEvent } from "@moora/agent";
import { hangs } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { untilPasses } from "@moora/testbed/test-clock";
import { expect, it } from "vitest";
import { DraftKeeper } from "../src/live/answer-draft.ts";

/** A session whose model writes its first answer, `msg_1_1`. */
async function writingSession() {
  const session = startSession(agentOf([hangs("Hi")]));
  const idle = session.current();
  await session.send("Hi");
  await untilPasses(() => expect(session.current().streaming?.text).toBe("Hi"));
  return { idle, writing: session.current(), [Symbol.asyncDispose]: () => session.close() };
}

const messageId = "msg_1_1";
const call = { messageId, toolCallId: "call_1" };
const reasoning = (text: string, offset: number): AgentEvent => ({
  type: "LlmReasoning",
  messageId,
  text,
  offset,
});

function keeperOf(...events: readonly AgentEvent[]): DraftKeeper {
  const keeper = new DraftKeeper();
  keeper.begin({ messageId, text: "One" });
  for (const event of events) keeper.add(event);
  return keeper;
}

it("A draft has no event that follows a gap, and none twice.", async () => {
  await using session = await writingSession();
  const keeper = keeperOf(
    { type: "LlmToken", messageId, text: " two", offset: 3 },
    { type: "LlmToken", messageId, text: " four", offset: 13 },
    { type: "LlmToken", messageId, text: "two!", offset: 4 },
    reasoning("everything.", 14),
    { type: "LlmToolCall", ...call, name: "look" },
    { type: "LlmToolCall", ...call, name: "look" },
    { type: "LlmToolCallDelta", ...call, text: "{", offset: 0 },
    { type: "LlmToolCallDelta", ...call, text: "}", offset: 9 },
  );
  const parts = keeper.draftAt(session.writing)?.parts.map(({ kind, pieces }) => [kind, pieces.join("")]);
  expect(parts).toEqual([
    ["text", "One two!"],
    ["call", "{"],
  ]);
});

it("A draft is dropped when the model does not write it any more.", async () => {
  await using session = await writingSession();
  const keeper = keeperOf(reasoning("Hm.", 0));
  keeper.follow(session.writing);
  expect(keeper.draftAt(session.writing)?.parts).toHaveLength(2);
  keeper.follow(session.idle);
  expect(keeper.draftAt(session.writing)).toBeUndefined();
});
