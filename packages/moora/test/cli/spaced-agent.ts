import { defineAgent, type Agent } from "@moora/agent";
import { planner } from "@moora/planner";

export const agent: Agent = defineAgent({ name: "two words", llm: planner() });
