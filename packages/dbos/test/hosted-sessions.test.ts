import { defineAgent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { HostedSessions } from "../src/hosted-sessions.ts";

describe("the sessions that a process has folded", () => {
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
