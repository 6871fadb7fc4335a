import { DataRefused, type AgentInput, type DurableSession } from "@moora/agent";
import { isSameJson } from "@moora/agent/internal";
import { seenData } from "../chat/ag-ui-base.ts";
import type { PostedState } from "../chat/ag-ui-request.ts";
import { HttpProblem } from "../problem.ts";
import { differingPlaces, mergeData } from "../sessions/merge-data.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { MakePost } from "../sessions/post-ledger.ts";
import type { RequestId } from "../sessions/request-ids.ts";
import { newIdOf, OwnPosts, type StateRun } from "../sessions/state-posts.ts";
import type { RouteCall } from "./route.ts";

/** Why the changes of a client are refused. Nothing was changed. */
export interface StateRefusal {
  readonly code: "state-conflict" | "state-refused" | "forbidden";
  readonly message: string;
}

/** The state of one run. */
export interface StateOfRun extends PostedState {
  /** What the run is about. Equal for the repetitions of the run. */
  readonly run: StateRun;
  /** What the run posts beside its state. */
  readonly answers?: unknown;
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
  const { state, base } = posted;
  if (live.agent.parts.data === undefined) {
    // Every client posts a state. One that names its base means the data of the agent.
    if (base === undefined) return undefined;
    return { code: "state-refused", message: "The agent has no data, so that its state cannot be changed." };
  }
  if (isSameJson(live.session.current().data, state)) return undefined;
  if (!isContainer(state) || (base !== undefined && !isContainer(base))) {
    const name = isContainer(state) ? "moora.base-state" : "state";
    return { code: "state-refused", message: `The ${name} must be an object or an array.` };
  }
  return await refusalOf(async () => {
    try {
      await record(call, live, { ...posted, state });
    } catch (error) {
      // Another state was posted for the same run meanwhile.
      if (!(error instanceof HttpProblem) || error.code !== "idempotency-key-reused") throw error;
      await live.refresh();
      await record(call, live, { ...posted, state });
    }
  });
}

type ContainerOfRun = StateOfRun & { readonly state: object };

async function record(call: RouteCall, live: LiveSession, posted: ContainerOfRun): Promise<void> {
  const { access, parts } = call;
  const { state } = posted;
  const id = await newIdOf(parts.ledgerOf(live), access.user, posted);
  // A repetition of the last post for this run.
  if (id === undefined) return;
  const { version = 0 } = live.agent.parts.data ?? {};
  const { base, later, unchanged, untilEnd, inRun } = await changedBy(live.session, posted, {
    user: access.user,
    version,
  });
  if (unchanged.some((seen) => isSameJson(seen.data, state))) return;
  if (!(await access.may("update", live.ref))) throw new NotAllowed();
  const unclear = unclearPlaces(untilEnd, state, live.session.current().data);
  if (unclear.length > 0) throw new StateConflict(unclear);
  // What the client has changed is not a part of the data as it is now.
  if (base?.version !== version || !isContainer(base.data)) throw new StateConflict([""]);
  const isSameVersion = inRun.every((shown) => shown.version === version);
  await merge(call, live, {
    id,
    state,
    base: base.data,
    later: later.map((after) => after.data),
    inRun: isSameVersion ? inRun.map((shown) => shown.data) : [],
  });
}

interface Version {
  readonly data: unknown;
  readonly version: number;
}

/** What a client has changed. */
interface Changed {
  readonly base: Version | undefined;
  /** What the data was since `base`. */
  readonly later: readonly Version[];
  /** The states that are not a change. */
  readonly unchanged: readonly Version[];
  /** What the data was during a run that the client seems to have seen to its end. */
  readonly untilEnd: readonly Version[];
  /** What the data was during a run that the client was cut off from. */
  readonly inRun: readonly Version[];
}

/** `version` is that of the data of the agent. */
async function changedBy(
  session: DurableSession<unknown>,
  posted: StateOfRun,
  { user, version }: { readonly user: string; readonly version: number },
): Promise<Changed> {
  if (posted.base !== undefined) {
    const base = { data: posted.base, version };
    return { base, later: [], unchanged: [base], untilEnd: [], inRun: [] };
  }
  const {
    messages,
    isResumed,
    run: [threadId],
  } = posted;
  const runs = [...messages.keys()].map((id): StateRun => [threadId, id]);
  // Not those with the answers to the same interrupts: another window of the user may have posted them.
  const own = new OwnPosts(user, runs);
  const isOwn = (input: AgentInput): boolean => own.has(input);
  const seen = await seenData(session, { messages, isResumed, isOwn });
  const { untilEnd, later, maybeSeen, inRun } = seen;
  if (!seen.isWhole) {
    const [base, ...after] = untilEnd;
    return { base, later: [...after, ...later], unchanged: maybeSeen, untilEnd: [], inRun };
  }
  const unchanged = untilEnd.slice(-1);
  return { base: unchanged[0], later, unchanged, untilEnd, inRun: [] };
}

/**
 * The places of a state that differ from the data at the end of a run, and that were changed in the run: the client has changed them
 * again or set them back, or it has not seen the change. None of those that are now what the client posts.
 */
function unclearPlaces(untilEnd: readonly Version[], state: object, now: unknown): readonly string[] {
  const [base, ...changes] = untilEnd.map(({ data }) => data);
  const expected: unknown = structuredClone(changes.at(-1));
  if (!isContainer(base) || !isContainer(expected) || Array.isArray(state) !== Array.isArray(expected))
    return [];
  const conflicts = mergeData(expected, base, state, { later: changes.slice(0, -1) });
  const places = new Set([...conflicts, ...differingPlaces(expected, state)]);
  const open = differingPlaces(now, state);
  return [...places].filter(
    (place) =>
      open.some((other) => isWithin(place, other) || isWithin(other, place)) &&
      ![...places].some((other) => other !== place && isWithin(place, other)),
  );
}

/** Whether a JSON Pointer is that of a place, or of one within it. */
const isWithin = (pointer: string, place: string): boolean =>
  pointer === place || pointer.startsWith(`${place}/`);

interface MergedState {
  readonly id: RequestId;
  readonly state: object;
  readonly base: object;
  /** What the data was since `base`. */
  readonly later: readonly unknown[];
  /** What the client may have been shown instead of `base`: what the data was during one run. */
  readonly inRun: readonly unknown[];
}

async function merge(
  { access: { user }, parts }: RouteCall,
  live: LiveSession,
  { id, state, base, later, inRun }: MergedState,
): Promise<void> {
  const post: MakePost = async (session, isRecorded) => {
    const change = (draft: unknown): void => {
      // A recipe that changes nothing records nothing.
      if (isRecorded()) return;
      const conflicts = isContainer(draft) ? mergeData(draft, base, state, { later, inRun }) : [""];
      if (conflicts.length > 0) throw new StateConflict(conflicts);
    };
    const receipt = await session.update(change, user, id.text);
    // The ledger must not remember it: the next state of the run has the same key.
    if (receipt.status === "ignored") throw new NothingNew();
    return receipt;
  };
  await parts.context.counters.countPost("data", async () => {
    try {
      return await parts.ledgerOf(live).once(id, post);
    } catch (error) {
      if (error instanceof NothingNew) return { status: "ignored" };
      throw error;
    }
  });
}

/** The data has the changes of a client already. */
class NothingNew extends Error {}

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
