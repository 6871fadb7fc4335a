import { canonicalJson, DataRefused, type DurableSession, type Receipt } from "@moora/agent";
import { isSameJson } from "@moora/agent/internal";
import { DataHistory } from "../chat/ag-ui-base.ts";
import type { PostedState } from "../chat/ag-ui-request.ts";
import { applyOperations } from "../sessions/apply-operations.ts";
import { mergeData } from "../sessions/merge-data.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { requestIdOf, type RequestId } from "../sessions/request-ids.ts";
import type { RouteCall } from "./route.ts";

/** Why the changes of a client are refused. Nothing was changed. */
export interface StateRefusal {
  readonly code: "state-conflict" | "state-refused" | "forbidden";
  readonly message: string;
}

/** The state of one run. */
export interface StateOfRun extends PostedState {
  readonly threadId: string;
  /** What the run is about: a message, or the interrupts that it answers. Equal for the repetitions of the run. */
  readonly about: string | readonly string[];
  /** What the run posts beside its state. */
  readonly answers: unknown;
}

/**
 * Makes the changes of a client to the application data, as one update by the user of the request. A repeated run changes it once;
 * with another state, it is a new post. The changes are those between what the client has seen and what it posts. Returns why they
 * are refused, if they are. The session must contain all records of its log.
 */
export async function postState(
  call: RouteCall,
  live: LiveSession,
  posted: StateOfRun,
): Promise<StateRefusal | undefined> {
  const { state, base: named, threadId, about, answers, messages } = posted;
  if (live.agent.parts.data === undefined) {
    // Every client posts a state. One that names its base means the data of the agent.
    if (named === undefined) return undefined;
    return { code: "state-refused", message: "The agent has no data, so that its state cannot be changed." };
  }
  if (isSameJson(live.session.current().data, state)) return undefined;
  if (!isContainer(state) || (named !== undefined && !isContainer(named))) {
    const name = isContainer(state) ? "moora.base-state" : "state";
    return { code: "state-refused", message: `The ${name} must be an object or an array.` };
  }
  const { access, parts } = call;
  const { user } = access;
  const mayUpdate = await access.may("update", live.ref);
  const idOf = (run: typeof about, content: unknown = null): RequestId =>
    requestIdOf({ kind: "data", user, key: canonicalJson(["ag-ui", threadId, run]), content });
  const id = idOf(about, { state, base: named ?? null, answers });
  let refusal: StateRefusal | undefined;
  const update = async (session: DurableSession<unknown>): Promise<Receipt> => {
    const history = await DataHistory.of(session);
    const recipe = (draft: unknown, now: unknown): void => {
      refusal = undefined;
      // The last change of the run again.
      if (history.postOf(id.key) === id.content) return;
      const base =
        named === undefined
          ? history.baseOf(messages, (message) => idOf(message).key)
          : { data: named, later: [] };
      const merged = mergeData({ now, base: base?.data, posted: state, later: base?.later });
      refusal = refusalOf(merged, mayUpdate);
      if (refusal === undefined) applyOperations(draft, merged.operations);
    };
    return await session.update(recipe, user, id.text);
  };
  try {
    await parts.context.counters.countPost("data", () => live.post(update));
    return refusal;
  } catch (error) {
    if (error instanceof DataRefused) return { code: "state-refused", message: error.message };
    throw error;
  }
}

function refusalOf(
  { operations, conflicts }: ReturnType<typeof mergeData>,
  mayUpdate: boolean,
): StateRefusal | undefined {
  if (!mayUpdate && (conflicts.length > 0 || operations.length > 0))
    return { code: "forbidden", message: "You may not change the state." };
  return conflicts.length === 0 ? undefined : { code: "state-conflict", message: conflictMessage(conflicts) };
}

/** The most paths that a message names. */
const maxPaths = 20;

function conflictMessage(conflicts: readonly string[]): string {
  const paths = conflicts.slice(0, maxPaths).map((path) => JSON.stringify(path));
  const more = conflicts.length > maxPaths ? ` and ${conflicts.length - maxPaths} other places` : "";
  return `The data was changed meanwhile at ${paths.join(", ")}${more}. Merge the changes, and run again.`;
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;
