import { answers, MockLlmCaller } from "@moora/llm/testing";
import { memoryLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { expect, it } from "vitest";
import { defineAgent, openSharedSession, userMessage, type AgentInput } from "../../src/index.ts";

const agent = defineAgent({ name: "helper", llm: new MockLlmCaller(() => answers("Hello.")) });

const message = (messageId: string): AgentInput => userMessage("Hi", { messageId, timestamp: 1 });

it("calls followers with each input once, and before a late-bound input is computed again after it", async () => {
  const log = memoryLog();
  const session = await openSharedSession(agent, { log, id: "ada" });
  const other = await openSharedSession(agent, { log, id: "ada" });
  await session.append([message("one")]);
  const seen: string[] = [];
  const stop = await session.follow(0, (seq, input) => void seen.push(`${seq} ${input.type}`));
  const { length } = seen;
  expect(seen.at(-1)).toBe(`${length} user-message-received`);
  await other.refresh();
  await other.append([message("two")]);
  const known: number[] = [];
  await session.append([() => (known.push(seen.length), message("three"))]);
  expect(known).toEqual([length, length + 1]);
  expect(seen).toHaveLength(length + 2);
  stop();
  await session.append([message("four")]);
  expect(seen).toHaveLength(length + 2);
});

it("is not used after work that could not begin to follow the log", async () => {
  const down = new Error("The log cannot be watched.");
  const watch = (): never => {
    throw down;
  };
  const log = withSessions(memoryLog(), () => ({ watch }));
  const session = await openSharedSession(agent, { log, id: "ada" });
  await expect(session.waitFor(() => true)).rejects.toBe(down);
  expect(session.isUsed).toBe(false);
});
