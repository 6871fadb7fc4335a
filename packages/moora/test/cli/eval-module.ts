import { defineAgent, type Agent } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";

const llm = new MockLlmCaller(({ messages }) =>
  answers(messages.length > 1 ? "Bergen, on the coast." : "Oslo."),
);

export const agent: Agent = defineAgent({ name: "capitals", llm });

export const evals = {
  scorers: { short: ({ output }: { output: string }) => (output.length < 10 ? 1 : 0.5) },
  gate: { minScore: 0.5, maxDrop: 0.2 },
};
