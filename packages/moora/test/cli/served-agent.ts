import { defineAgent, type Agent } from "@moora/agent";
import { planner } from "@moora/planner";
import { calculatorTool } from "@moora/tools";

export const agent: Agent = defineAgent({ name: "counter", llm: planner(), tools: [calculatorTool()] });
