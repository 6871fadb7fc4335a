import type { AgentState, DataPatch, Json } from "@moora/agent";
import { dataOf } from "@moora/agent/internal";
import type { AgUiEvent } from "./ag-ui-event.ts";

/** Deltas up to so many characters are sent as they are, also where the data is shorter. */
const shortDelta = 1_000;

/** Clients refuse to apply a patch with such a path. */
const refusedPath = /\/constructor\/prototype(?:\/|$)/;

/** The application data as the client of one run has it. */
export class AgUiSharedState {
  /** Undefined before the run has begun, and for a session without data. */
  #shown: Json | undefined;

  /** The events at the beginning of a run: the whole data. None for a session without data. */
  begin(state: AgentState): readonly AgUiEvent[] {
    return state.dataStatus === null ? [] : [this.#snapshot(dataOf(state))];
  }

  /**
   * The events that lead to the data of a state, none if the client has it. `patches` lead to it from the data before; undefined
   * if that is not known.
   */
  update(state: AgentState, patches: readonly DataPatch[] | undefined): readonly AgUiEvent[] {
    const data = dataOf(state);
    const shown = this.#shown;
    if (data === shown) return [];
    if (shown === undefined) return this.begin(state);
    if (patches === undefined && isSameText(data, shown)) {
      this.#shown = data;
      return [];
    }
    if (patches === undefined || !isUsable(patches, data)) return [this.#snapshot(data)];
    this.#shown = data;
    return [{ type: "STATE_DELTA", delta: patches }];
  }

  #snapshot(data: Json): AgUiEvent {
    this.#shown = data;
    return { type: "STATE_SNAPSHOT", snapshot: data };
  }
}

/** Whether two values have the same JSON text, with their fields in the same order. */
const isSameText = (one: Json, other: Json): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Whether patches are a delta that a client applies, and not much longer than the data that they lead to. */
function isUsable(patches: readonly DataPatch[], data: Json): boolean {
  if (patches.some(({ path }) => path === "" || refusedPath.test(path))) return false;
  const { length } = JSON.stringify(patches);
  return length <= shortDelta || length <= JSON.stringify(data).length;
}
