import { answers, hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { answer, task } from "./support/runs.ts";

describe("the events of a run", () => {
  it("start the run with the first one", async () => {
    const llm = new MockLlmCaller([answers(answer)]);
    const engine = new AgentBuilder(task).llm(llm).build();
    const events = engine.runStreaming();
    expect(engine.currentState()).toBe("Idle");
    expect(await events.next()).toMatchObject({ value: { type: "StateStarted", state: "Planning" } });
    expect(engine.currentState()).toBe("Planning");
    await events.return();
  });

  it("stop when the consumer leaves, and the run is canceled", async () => {
    const llm = new MockLlmCaller([hangs("Let me think. ")]);
    const engine = new AgentBuilder(task).llm(llm).build();
    for await (const event of engine.runStreaming()) if (event.type === "LlmToken") break;
    expect(engine.memory().error).toMatchObject({ kind: "Cancelled" });
    expect(llm.options[0]?.signal?.aborted).toBe(true);
  });
});

describe("a cancel", () => {
  it("before and after a run does nothing", async () => {
    const engine = new AgentBuilder(task).llm(new MockLlmCaller([answers(answer)])).build();
    engine.cancel();
    expect(await engine.run()).toBe(answer);
    engine.cancel();
    expect(engine.currentState()).toBe("Done");
  });
});
