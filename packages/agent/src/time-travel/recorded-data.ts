import { DataRefused, type Recipe } from "@moora/agent-core-effects";
import {
  applyPatches,
  type AgentInput,
  type AgentState,
  type DataPatch,
} from "@moora/agent-core-state-machine";
import { openCallOf } from "@moora/agent-core-state-machine/internal";

/** A recorded change of application data by a call. */
export interface CallChange {
  /** The record of the change. */
  readonly seq: number;
  readonly patches: readonly DataPatch[];
  /** Whether it was committed before the result of the call. */
  readonly isEarly: boolean;
}

/**
 * The changes of application data by each call of a session, by its id: those before its result, and that of its result. What a
 * call that is open in `start` has changed among the first `seq` inputs is part of that state.
 */
export function changesOfCalls(
  inputs: readonly AgentInput[],
  start: AgentState,
  seq: number,
): ReadonlyMap<string, readonly CallChange[]> {
  const found = new Map<string, readonly CallChange[]>();
  for (const [index, input] of inputs.entries()) {
    if (input.type !== "tool-call-completed" && input.type !== "data-changed") continue;
    const { type, toolCallId, patches = [] } = input;
    if (toolCallId === undefined || patches.length === 0) continue;
    if (index < seq && openCallOf(start.reActContext.control, toolCallId) !== undefined) continue;
    const change = { seq: index + 1, patches, isEarly: type === "data-changed" };
    found.set(toolCallId, [...(found.get(toolCallId) ?? []), change]);
  }
  return found;
}

/** Whether an input is a change of data by the application: not by a call, a handler or a migration, which a rerun repeats. */
export function isUpdateByApplication(
  input: AgentInput,
): input is Extract<AgentInput, { type: "data-changed" }> {
  if (input.type !== "data-changed") return false;
  return input.toolCallId === undefined && input.key === undefined && input.version === undefined;
}

/** A recipe that makes a recorded change. Throws `DataRefused` if it does not fit. */
export const recipeOf =
  (patches: readonly DataPatch[]): Recipe<unknown> =>
  (draft) => {
    // A draft is not a value that may be shared.
    const changed = applyPatches(JSON.parse(JSON.stringify(draft)), patches);
    const isSameKind = Array.isArray(changed) === Array.isArray(draft);
    if (typeof changed !== "object" || changed === null || !isSameKind)
      throw new DataRefused("the recorded change does not fit the data of this run.");
    const target = Object(draft);
    for (const key of Object.keys(target).toReversed())
      if (!Object.hasOwn(changed, key)) Reflect.deleteProperty(target, key);
    if (Array.isArray(target)) target.length = Object.keys(changed).length;
    Object.assign(target, changed);
  };
