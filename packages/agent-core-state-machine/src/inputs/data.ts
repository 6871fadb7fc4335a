import type { Json } from "@moora/agent-webui-protocol";
import { recordOf } from "../collections/state-lists.ts";
import { openCallOf } from "../collections/open-call-list.ts";
import { stateKey } from "../keys.ts";
import { applyPatches, type DataPatch } from "../data/patches.ts";
import type { DataChangedInput } from "../input.ts";
import type { AgentState } from "../state.ts";
import type { IgnoredReason, InputHandler } from "./input-handler.ts";

/** The application data of a state. */
export function dataOf({ data }: Pick<AgentState, "data">): Json {
  // Inputs are checked to be JSON, and so is what their patches result in.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return data as Json;
}

/** Changes the application data. */
export const dataChanged: InputHandler<DataChangedInput> = (state, input) => {
  const { patches, version } = input;
  const ended = reasonOfEndedWork(state, input);
  if (ended !== undefined) return ended;
  if (patches.length === 0 && version === undefined) return "nothing-new";
  if (state.dataStatus === null && version === undefined) return "no-data";
  const data = applyPatches(dataOf(state), patches);
  if (data === undefined) return "wrong-patch";
  return (edit) => edit.setData(data, patches, version);
};

/** Why the call or handler that changes the data does not run; undefined if it runs, and for a change by neither. */
function reasonOfEndedWork(
  state: AgentState,
  { toolCallId, key }: Pick<DataChangedInput, "toolCallId" | "key">,
): IgnoredReason | undefined {
  const { control } = state.reActContext;
  if (toolCallId !== undefined) {
    const status = openCallOf(control, toolCallId)?.status;
    if (status?.type === "running" && status.started) return undefined;
    return recordOf(state, toolCallId) === undefined ? "unknown-call" : "not-open";
  }
  if (key === undefined) return undefined;
  const isRunning =
    control.type === "Custom" && control.started && stateKey(state.reActContext, control) === key;
  return isRunning ? undefined : "wrong-key";
}

/** The data after the patches of a result. Undefined without patches; the reason if they do not fit. */
export function patchedData(
  state: AgentState,
  patches: readonly DataPatch[],
): { readonly value: Json } | IgnoredReason | undefined {
  if (patches.length === 0) return undefined;
  if (state.dataStatus === null) return "no-data";
  const value = applyPatches(dataOf(state), patches);
  return value === undefined ? "wrong-patch" : { value };
}
