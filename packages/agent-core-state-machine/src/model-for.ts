import type { AgentConfig } from "./agent-config.ts";

/** The model of a task type; else that of the agent's own task type; else the default; else "", the model of the caller. */
export const modelFor = ({ models, taskType }: AgentConfig, type: string): string =>
  modelOf(models, type) ?? modelOf(models, taskType) ?? modelOf(models, "default") ?? "";

const modelOf = (models: AgentConfig["models"], name: string): string | undefined =>
  Object.hasOwn(models, name) ? models[name] : undefined;
