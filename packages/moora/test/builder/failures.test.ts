import { fails, MockLlmCaller } from "@moora/llm/testing";
import { expect, it } from "vitest";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { errorOf, task } from "./support/runs.ts";

it("the error of an engine names the code that ran it", async () => {
  const engine = new AgentBuilder(task).llm(new MockLlmCaller([fails("auth")])).build();
  const answerOrder = (): Promise<string> => engine.run();
  expect((await errorOf(answerOrder())).stack).toContain("answerOrder");
});
