import { isDeepStrictEqual } from "node:util";
import type { AgentState } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import { differencesOf, stateAt, verifySession } from "@moora/agent";
import type { Counter, Run } from "./counter.ts";
import { once } from "./counting-tools.ts";
import { outcomeOf, problemsAfter } from "./outcome.ts";
import { runProcess, type Scene } from "./processes.ts";
import type { Transcript } from "./transcripts/transcript.ts";

/** A finished session, with the effects of its tools. */
export interface Lived {
  readonly seq: number;
  readonly state: AgentState;
  readonly asks: number;
  readonly effects: number;
  /** Problems of the session that do not depend on the expected outcome. */
  readonly problems: readonly string[];
}

/** Opens a new session, or one of a process that died, in a process, and runs it to its end. */
export async function takenUp(scene: Scene, transcript: Transcript): Promise<Lived> {
  const { log, id, counter } = scene;
  const found = await foundState(log, id);
  const before = counter.runs.length;
  const { session } = await runProcess(scene, transcript);
  await session?.close();
  const { seq, state } = await stateAt(log, id);
  const report = await verifySession(log, id);
  return {
    seq,
    state,
    asks: counter.asks,
    effects: counter.effects,
    problems: [
      ...(report.ok ? [] : [`Record ${report.seq} cannot be verified: ${report.message}`]),
      ...problemsAfter(state).map((problem) => `The next request: ${problem}`),
      ...counter.badAsks,
      ...ranTwice(counter, before, found),
    ],
  };
}

async function foundState(log: EventLog, id: string): Promise<AgentState | undefined> {
  return (await log.open(id)) === undefined ? undefined : (await stateAt(log, id)).state;
}

const callOf = ({ key }: Run): string => key.slice(key.lastIndexOf("/") + 1);

/** The calls that ran again although they must not: of a `once` tool, or with a recorded result. */
function ranTwice({ runs }: Counter, before: number, found: AgentState | undefined): readonly string[] {
  const again = runs.filter(
    ({ tool, key }, at) => once.has(tool) && runs.findIndex((run) => run.key === key) < at,
  );
  const finished = runs
    .slice(before)
    .filter((run) => (found?.toolCalls[callOf(run)]?.result ?? null) !== null);
  return [...again, ...finished].map(({ tool, key }) => `${tool} ran again for ${key}.`);
}

/** What a session that was broken off once has lost or gained beside one that was not; nothing, as it should be. */
export function lossesOf(ran: Lived, whole: Lived, { mayBeUnknown }: Transcript): readonly string[] {
  const unknown = mayBeUnknown ? unknownIn(ran.state) : new Set<string>();
  const expected = outcomeOf(without(unknown, whole.state));
  const outcome = outcomeOf(without(unknown, ran.state));
  const [difference] = isDeepStrictEqual(outcome, expected) ? [] : differencesOf(outcome, expected, 1);
  return [
    ...ran.problems,
    ...(difference === undefined
      ? []
      : [`${difference.path} is ${JSON.stringify(difference.a)} and not ${JSON.stringify(difference.b)}.`]),
    ...(ran.asks <= whole.asks + 1 ? [] : [`The model was asked ${ran.asks} times and not ${whole.asks}.`]),
    ...(ran.effects <= whole.effects && ran.effects >= whole.effects - unknown.size
      ? []
      : [`The world has ${ran.effects} effects and not ${whole.effects}.`]),
  ];
}

/** Codes of calls whose outcome a crash left unknown, and a person perhaps settled. */
const settledUnknown: ReadonlySet<string | undefined> = new Set([
  "outcome-unknown",
  "reported-failed",
  "cancelled-after-start",
]);

const unknownIn = (state: AgentState): ReadonlySet<string> =>
  new Set(
    Object.entries(state.toolCalls).flatMap(([id, { result }]) =>
      result?.isSuccess === false && settledUnknown.has(result.code) ? [id] : [],
    ),
  );

function without(unknown: ReadonlySet<string>, state: AgentState): AgentState {
  const toolCalls = Object.entries(state.toolCalls).map(([id, { decision, ...record }]) => [
    id,
    unknown.has(id) ? { ...record, result: null } : { ...record, decision },
  ]);
  return { ...state, toolCalls: Object.fromEntries(toolCalls) };
}
