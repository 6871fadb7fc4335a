import { dataOf } from "@moora/agent-core-state-machine/internal";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import type { Agent } from "./define-agent.ts";

/**
 * The input that gives a session the data of an agent: its initial data if the session has none, or the migrated data of an
 * older version. None if the session has the data already. Throws `DataRefused` for stored data that the agent cannot use.
 */
export function dataInputs(
  { parts: { data } }: Pick<Agent<unknown>, "parts">,
  state: AgentState,
  timestamp: number,
): readonly AgentInput[] {
  if (data === undefined) return [];
  const { version } = data;
  const stored = state.dataStatus;
  const value = stored === null ? data.initial : data.open(dataOf(state), stored.version);
  if (stored?.version === version) return [];
  const patches = [{ op: "replace", path: "", value }] as const;
  return [{ type: "data-changed", patches, by: "agent", version, timestamp }];
}
