import type { AgentConfig } from "./agent-config.ts";

/** The model of a task type; else that of the agent's own task type; else the default; else "", the model of the caller. */
export function modelFor({ models, taskType }: AgentConfig, type: string): string {
  for (const name of [type, taskType, "default"]) {
    const model = Object.hasOwn(models, name) ? models[name] : undefined;
    if (model !== undefined) return model;
  }
  return "";
}
