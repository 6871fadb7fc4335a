import type { Clock } from "@moora/agent";
import { answers, fails, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { answer, errorOf, task, thrownBy } from "./support/runs.ts";

it("the error of an engine names the code that ran it", async () => {
  const engine = new AgentBuilder(task).llm(new MockLlmCaller([fails("auth")])).build();
  const answerOrder = (): Promise<string> => engine.run();
  expect((await errorOf(answerOrder())).stack).toContain("answerOrder");
});

describe("a synchronous run", () => {
  const standing: Clock = { now: () => 1_000, after: () => () => undefined };

  it("does not wait for a retry: it fails with an LlmError", () => {
    const llm = new MockLlmCaller([fails("rate-limit", { message: "Slow down." }), answers(answer)]);
    const engine = new AgentBuilder(task).llm(llm).build({ clock: standing });
    const error = thrownBy(() => engine.runSync());
    expect(error).toMatchObject({ kind: "LlmError", reason: "rate-limit" });
    expect(error.message).toBe("Slow down. A synchronous run cannot wait for a retry.");
    expect(llm.callCount).toBe(1);
    expect(engine.currentState()).toBe("Error");
  });

  it("runs a retry that is due immediately", () => {
    const llm = new MockLlmCaller([fails("server"), answers(answer)]);
    const engine = new AgentBuilder(task)
      .llm(llm)
      .config({ retries: { delayMs: 0 } })
      .build({ clock: standing });
    expect(engine.runSync()).toBe(answer);
    expect(llm.callCount).toBe(2);
  });
});
