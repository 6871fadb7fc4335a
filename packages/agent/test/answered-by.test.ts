import { memoryLog } from "@moora/event-log";
import { fallback, type LlmCaller, type LlmChunk } from "@moora/llm";
import { answers, fails, MockLlmCaller } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { defineAgent, openSession, readSession, startSession, verifySession } from "../src/index.ts";

describe("an agent whose model falls back", () => {
  it("records which caller answered, and why, and the log verifies", async () => {
    const log = memoryLog();
    const failing = Object.assign(new MockLlmCaller([fails("overloaded")]), { name: "first" });
    const second = Object.assign(new MockLlmCaller([answers("Oslo.")]), { name: "second", model: "small" });
    const agent = defineAgent({ llm: fallback([failing, second]) });
    await using session = await openSession(agent, { log, id: "ada" });
    expect((await session.ask("The capital of Norway?")).text).toBe("Oslo.");
    const { inputs } = await readSession(log, "ada");
    expect(inputs.find(({ type }) => type === "re-act-observed")).toMatchObject({
      answeredBy: { caller: "second", model: "small", reasons: ["fallback: first failed: overloaded"] },
    });
    await verifySession(log, "ada");
  });

  it("records nothing where no caller was chosen", async () => {
    const log = memoryLog();
    await using session = await openSession(defineAgent({ llm: new MockLlmCaller([answers("x")]) }), {
      log,
      id: "ada",
    });
    await session.ask("x");
    const { inputs } = await readSession(log, "ada");
    expect(inputs.find(({ type }) => type === "re-act-observed")).not.toHaveProperty("answeredBy");
  });

  it("shows a stream that broke as an attempt that was cut, and the next caller's answer as a new one", async () => {
    const chunk: LlmChunk = { type: "text", text: "Osl" };
    const breaking: LlmCaller = {
      name: "first",
      call: async (_, options) => {
        options?.onChunk?.(chunk);
        return fails("interrupted", { partial: "Osl" });
      },
    };
    const clock = new TestClock();
    const second = Object.assign(new MockLlmCaller([answers("Oslo.")]), { name: "second" });
    await using session = startSession(defineAgent({ llm: fallback([breaking, second]) }), { clock });
    const run = session.ask("The capital of Norway?");
    const events: object[] = [];
    const listening = (async () => {
      for await (const event of run) events.push(event);
    })();
    await clock.whenWaiting(1);
    await clock.advanceAsync(60_000);
    expect((await run).text).toBe("Oslo.");
    await listening;
    const texts = events.filter((event) => "type" in event && event.type === "LlmToken");
    const ids = new Set(texts.map((event) => ("messageId" in event ? event.messageId : "")));
    expect(ids.size).toBe(2);
    const [cut] = ids;
    expect(events).toContainEqual(expect.objectContaining({ type: "LlmRetryScheduled", messageId: cut }));
  });
});
