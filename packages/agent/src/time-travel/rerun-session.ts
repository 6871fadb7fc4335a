import type { Clock } from "@moora/agent-core-effects";
import { replay, traceOf, type AgentState, type Trace } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import { checkIsAgent, checkIsLog } from "../check-arguments.ts";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import type { Agent } from "../define-agent.ts";
import { headerToState } from "../durable/session-header.ts";
import type { Session } from "../session/session.ts";
import { startSession } from "../start-session.ts";
import { comparableState } from "./volatile-fields.ts";
import { differencesOf, type Difference } from "./differences.ts";
import { isOfOpenWork } from "./open-work.ts";
import { end, positionOf, readSession } from "./read-session.ts";
import { recordingsOf, type Recordings } from "./recordings.ts";

const forms: OptionForms<RerunOptions> = { from: "number", unrecorded: "string", clock: "clock" };

export interface RerunOptions {
  /** The record to begin after; 0 runs the whole conversation again. */
  readonly from: number;
  /** What a call does that the record knows nothing of: it fails, and the model reads that, or it really runs. */
  readonly unrecorded?: "fail" | "run";
  readonly clock?: Clock;
}

/** What another model, prompt or set of limits would have made of a recorded run. */
export interface Rerun {
  readonly recorded: { readonly state: AgentState; readonly trace: Trace };
  readonly state: AgentState;
  readonly trace: Trace;
  /** What came out differently, but for times, ids and owners. */
  readonly differences: readonly Difference[];
  /** Calls that the record had no result for. */
  readonly unrecordedCalls: number;
}

/**
 * Runs a recorded session again from one of its positions, with another agent. What was under way there begins anew, and
 * what the user said later is said again, each message when the one before is answered. Tools answer what they answered
 * then, and people decide what they decided, by name and arguments, so nothing is done twice; a question that was never
 * asked is rejected. Nothing is written to the log.
 */
export async function rerunSession<Answer>(
  agent: Agent<Answer>,
  log: EventLog,
  id: string,
  options: RerunOptions,
): Promise<Rerun> {
  checkIsAgent("rerunSession", agent);
  checkIsLog(log);
  checkLogOptions("rerunSession", options, forms);
  const { from, unrecorded = "fail", clock } = options;
  const session = await readSession(log, id);
  const whole = positionOf(session, end);
  const { seq, state, moves } = positionOf(session, from);
  const isUnderWay = isOfOpenWork(state);
  const begun = session.inputs.slice(0, seq).filter((input) => !isUnderWay(input));
  const recordings = recordingsOf(whole.state, state, unrecorded);
  const tools = new Map([...agent.parts.tools].map(([name, tool]) => [name, recordings.standInFor(tool)]));
  const again = startSession(
    { ...agent, parts: { ...agent.parts, tools } },
    {
      // An id of its own: what really runs must not be taken for done because of what the recorded session did.
      state: replay(begun, headerToState(session.header)),
      ...(clock === undefined ? {} : { clock }),
    },
  );
  try {
    answerAsRecorded(again, recordings);
    await again.settled();
    for (const input of session.inputs.slice(seq)) {
      if (input.type !== "user-message-received") continue;
      await again.dispatch(input);
      await again.settled();
    }
  } finally {
    await again.close();
  }
  const { streaming: _, ...result } = again.current();
  return {
    recorded: { state: whole.state, trace: traceOf(whole.moves.slice(moves.length)) },
    state: result,
    trace: again.trace(),
    differences: differencesOf(comparableState(whole.state), comparableState(result)),
    unrecordedCalls: recordings.missing,
  };
}

/** Answers every question as it was answered then. */
function answerAsRecorded<Answer>(session: Session<Answer>, recordings: Recordings): void {
  session.onEvent((event) => {
    if (event.type !== "ApprovalRequested") return;
    const { decision, by } = recordings.decisionOn(event.name, event.parameters) ?? unasked;
    const reject = (): Promise<unknown> => session.decide(event, unasked.decision, unasked.by);
    // What was decided then may not fit the tool, or the question, as they are now.
    session
      .decide(event, decision, by)
      .then((receipt) => (receipt.status === "accepted" ? undefined : reject()))
      .catch(() => reject())
      .catch(() => undefined);
  });
}

const unasked = {
  decision: { reject: "The recorded run has no decision on this." },
  by: "rerun",
} as const;
