import { canonicalJson, DataRefused, type DurableSession } from "@moora/agent";
import { isSameJson } from "@moora/agent/internal";
import { seenData } from "../chat/ag-ui-base.ts";
import type { PostedState } from "../chat/ag-ui-request.ts";
import { differingPlaces, mergeData } from "../sessions/merge-data.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { requestIdOf } from "../sessions/request-ids.ts";
import type { RouteCall } from "./route.ts";

/** Why the changes of a client are refused. Nothing was changed. */
export interface StateRefusal {
  readonly code: "state-conflict" | "state-refused" | "forbidden";
  readonly message: string;
}

/** The state of one run. `run` is equal for the repetitions of the run, and differs for any other. */
export interface StateOfRun extends PostedState {
  readonly run: unknown;
}

/**
 * Makes the changes of a client to the application data, as one update by the user of the request. A repeated run changes it once.
 * The changes are those between what the client has seen and what it posts. Returns why they are refused, if they are. The session
 * must contain all records of its log.
 */
export async function postState(
  call: RouteCall,
  live: LiveSession,
  posted: StateOfRun,
): Promise<StateRefusal | undefined> {
  const { access } = call;
  const data = live.agent.parts.data;
  if (data === undefined) return undefined;
  const { state } = posted;
  if (isSameJson(live.session.current().data, state)) return undefined;
  if (!isContainer(state))
    return { code: "state-refused", message: "The state must be an object or an array." };
  const { versions, atEnd } = await seenBy(live.session, posted, data.version);
  const [base] = versions;
  return await refusalOf(async () => {
    const unclear = unclearPlaces(base, atEnd, state);
    // What the client may have seen is not a change.
    if (unclear.length === 0 && versions.some((version) => isSameJson(version.data, state))) return;
    if (!(await access.may("update", live.ref))) throw new NotAllowed();
    if (unclear.length > 0) throw new StateConflict(unclear);
    // What the client has changed is not a part of the data as it is now.
    if (base?.version !== data.version || !isContainer(base.data)) throw new StateConflict([""]);
    const later = versions.slice(1).map((version) => version.data);
    await merge(call, live, { ...posted, state, base: base.data, later });
  });
}

interface SeenVersion {
  readonly data: unknown;
  readonly version: number;
}

interface Seen {
  readonly versions: readonly SeenVersion[];
  readonly atEnd: SeenVersion | undefined;
}

/** What the client has seen. `version` is that of the data of the agent. */
const seenBy = async (
  session: DurableSession<unknown>,
  posted: PostedState,
  version: number,
): Promise<Seen> =>
  posted.base === undefined
    ? await seenData(session, posted)
    : { versions: [{ data: posted.base, version }], atEnd: undefined };

/**
 * The places that have, in the state of a client, the value from before a change of others that the client seems to have seen: it has
 * set them back, or it has not seen the change.
 */
function unclearPlaces(
  base: SeenVersion | undefined,
  atEnd: SeenVersion | undefined,
  state: object,
): readonly string[] {
  if (base === undefined || atEnd === undefined || base === atEnd) return [];
  const expected: unknown = structuredClone(atEnd.data);
  if (!isContainer(base.data) || !isContainer(expected) || Array.isArray(state) !== Array.isArray(expected))
    return [];
  // Other conflicts are found when the change is recorded.
  return mergeData(expected, base.data, state).length > 0 ? [] : differingPlaces(expected, state);
}

interface ContainerStates extends Omit<StateOfRun, "base"> {
  readonly state: object;
  readonly base: object;
  /** What the data was since `base`. */
  readonly later: readonly unknown[];
}

async function merge(
  { access: { user }, parts }: RouteCall,
  live: LiveSession,
  { run, state, base, later }: ContainerStates,
): Promise<void> {
  const id = requestIdOf({ kind: "data", user, key: canonicalJson(["ag-ui", run, state]), content: state });
  await parts.context.counters.countPost("data", () =>
    parts.ledgerOf(live).once(id, async (session, isRecorded) => {
      const change = (draft: unknown): void => {
        // A recipe that changes nothing records nothing.
        if (isRecorded()) return;
        const conflicts = isContainer(draft) ? mergeData(draft, base, state, later) : [""];
        if (conflicts.length > 0) throw new StateConflict(conflicts);
      };
      return await session.update(change, user, id.text);
    }),
  );
}

/** Others have changed what a client has changed. */
class StateConflict extends Error {
  readonly paths: readonly string[];

  constructor(paths: readonly string[]) {
    super("The data was changed meanwhile.");
    this.paths = paths;
  }
}

/** The user has no right to change the data. */
class NotAllowed extends Error {}

/** The most paths that a message names. */
const maxPaths = 20;

async function refusalOf(work: () => Promise<void>): Promise<StateRefusal | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof DataRefused) return { code: "state-refused", message: error.message };
    if (error instanceof NotAllowed) return { code: "forbidden", message: "You may not change the state." };
    if (!(error instanceof StateConflict)) throw error;
    const paths = error.paths.slice(0, maxPaths).map((path) => JSON.stringify(path));
    const more = error.paths.length > maxPaths ? ` and ${error.paths.length - maxPaths} other places` : "";
    const message = `The data was changed meanwhile at ${paths.join(", ")}${more}. Merge the changes, and run again.`;
    return { code: "state-conflict", message };
  }
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;
