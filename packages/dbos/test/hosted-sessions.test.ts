import { defineAgent, userMessage, type LogEntry } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { HostedSessions } from "../src/hosted-sessions.ts";

describe("the sessions that a process has folded", () => {
  it("log inputs that do not apply, retries, and appends of other processes that were first", async () => {
    const entries: LogEntry[] = [];
    const agent = defineAgent({ name: "helper", llm: new MockLlmCaller([answers("Yes.")]) });
    const log = memoryLog();
    const clock = new TestClock();
    const parts = { agent, log, clock, owner: () => "one" };
    const own = await new HostedSessions({ ...parts, onLog: (entry) => entries.push(entry) }).open("ada");
    const other = await new HostedSessions(parts).open("ada");
    await other.append([userMessage("Hi.", { messageId: "m1" })]);
    await own.append([userMessage("Hello.", { messageId: "m2" })]);
    await own.append([userMessage("Hello.", { messageId: "m2" })]);
    const failure = { kind: "overloaded", message: "Busy.", retryable: true } as const;
    await own.append([{ type: "llm-call-failed", key: "plan/1/1/1", failure, timestamp: clock.now() }]);
    expect(entries).toMatchObject([
      { code: "append-conflict", sessionId: "ada", data: { records: 1 } },
      { code: "input-ignored", data: { type: "user-message-received", reason: "duplicate-id" } },
      { code: "llm-retry", data: { key: "plan/1/1/1", kind: "overloaded" } },
    ]);
  });

  it("are opened beyond the limit although the oldest one cannot be opened", async () => {
    const agent = defineAgent({ name: "helper", llm: new MockLlmCaller([answers("Yes.")]) });
    const log = memoryLog();
    const first = Promise.withResolvers<undefined>();
    const sessions = new HostedSessions({
      agent,
      clock: new TestClock(),
      owner: () => "one",
      log: new Proxy(log, {
        get: (target, name) =>
          name === "open"
            ? (id: string) => (id === "first" ? first.promise : target.open(id))
            : Reflect.get(target, name, target),
      }),
    });
    const failed = sessions.open("first").catch(String);
    const opened = Array.from({ length: 1_000 }, (_, index) => sessions.open(`session-${index}`));
    for (let turns = 0; turns < 20; turns += 1) await turn();
    first.reject(new Error("The log cannot be read."));
    expect(await failed).toBe("Error: The log cannot be read.");
    expect(await Promise.all(opened)).toHaveLength(1_000);
  });
});
