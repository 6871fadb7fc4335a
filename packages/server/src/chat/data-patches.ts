import type { AgentInput, DataPatch } from "@moora/agent";

/** The patches by which an input changes application data. Undefined without one, and for data of another version. */
export function patchesOf(input: AgentInput): readonly DataPatch[] | undefined {
  if (!("patches" in input) || ("version" in input && input.version !== undefined)) return undefined;
  return input.patches;
}
