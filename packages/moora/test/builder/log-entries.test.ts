import type { LogEntry } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, fails, MockLlmCaller } from "@moora/llm/testing";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { AgentBuilder } from "../../src/index.ts";

describe("the log entries of a builder", () => {
  it("are those of the run, in memory and in a log", async () => {
    const runWith = async (extend: (builder: AgentBuilder) => AgentBuilder): Promise<readonly string[]> => {
      const entries: LogEntry[] = [];
      const clock = new TestClock();
      const builder = new AgentBuilder("Hi.")
        .llm(new MockLlmCaller([fails("overloaded"), answers("Hello.")]))
        .onLog((entry) => void entries.push(entry));
      const run = extend(builder).build({ clock }).run();
      await untilPasses(() => expect(entries.map(({ code }) => code)).toContain("llm-retry"));
      await clock.advanceAsync(60_000);
      expect(await run).toBe("Hello.");
      return entries.map(({ level, code }) => `${level} ${code}`);
    };
    expect(await runWith((builder) => builder)).toEqual(["warn llm-retry"]);
    expect(await runWith((builder) => builder.log(memoryLog()))).toEqual([
      "info session-opened",
      "warn llm-retry",
      "info session-closed",
    ]);
  });
});
