import { defineAgent, type LogEntry } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, fails, MockLlmCaller } from "@moora/llm/testing";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { AgentEngine, type EngineOptions } from "../../src/index.ts";

describe("the log entries of an engine", () => {
  it("are those of the run, in memory and in a log", async () => {
    const runWith = async (storage: Pick<EngineOptions, "storage">): Promise<readonly string[]> => {
      const entries: LogEntry[] = [];
      const clock = new TestClock();
      const agent = defineAgent({ llm: new MockLlmCaller([fails("overloaded"), answers("Hello.")]) });
      const onLog = (entry: LogEntry): void => void entries.push(entry);
      const run = new AgentEngine(agent, "Hi.", { clock, onLog, ...storage }).run();
      await untilPasses(() => expect(entries.map(({ code }) => code)).toContain("llm-retry"));
      await clock.advanceAsync(60_000);
      expect(await run).toBe("Hello.");
      return entries.map(({ level, code }) => `${level} ${code}`);
    };
    expect(await runWith({})).toEqual(["warn llm-retry"]);
    expect(await runWith({ storage: { log: memoryLog(), id: "hi", resumes: false } })).toEqual([
      "info session-opened",
      "warn llm-retry",
      "info session-closed",
    ]);
  });
});
