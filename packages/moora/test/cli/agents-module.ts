import { defineAgent, type Agent } from "@moora/agent";
import { planner } from "@moora/planner";

export const one: Agent = defineAgent({ name: "one", llm: planner() });

export const others: readonly Agent[] = [defineAgent({ name: "two", llm: planner() })];

export const authorize = (request: Request): { user: string } | undefined =>
  request.headers.get("authorization") === "Bearer ada" ? { user: "ada" } : undefined;
