import { defineAgent, defineContext, defineTool, type Agent } from "@moora/agent";
import { planner } from "@moora/planner";

const who = defineTool({
  name: "who",
  description: "Returns the user.",
  input: { type: "object" },
  context: defineContext<{ readonly user: string | null }>(),
  execute: (_input, { context }) => context.user ?? "",
});

export const agent: Agent = defineAgent({ name: "shop", llm: planner(), tools: [who] });
