import type { AgentState, Json } from "@moora/agent-core-state-machine";
import { dataOf } from "@moora/agent-core-state-machine/internal";
import { DataRefused } from "./data-refused.ts";

/** The part of a state with its application data. */
export type DataState = Pick<AgentState, "data" | "dataStatus">;

/** The data of a state for code with this version of it. Throws `DataRefused` for a state whose data has another version, or none. */
export function dataAt(state: DataState, { version }: { readonly version: number }): Json {
  const found = state.dataStatus?.version;
  if (found !== version)
    throw new DataRefused(`it has version ${found ?? "none"}, and this agent has version ${version}.`);
  return dataOf(state);
}
