import { DataRefused, type Clock } from "@moora/agent-core-effects";
import {
  beginReplay,
  traceOf,
  type AgentInput,
  type AgentState,
  type InputOf,
  type Trace,
} from "@moora/agent-core-state-machine";
import {
  factOf,
  handOffToolName,
  isScheduleKey,
  messageOf,
  scheduledMessageId,
} from "@moora/agent-core-state-machine/internal";
import type { EventLog } from "@moora/event-log";
import { oneOf } from "@moora/llm/internal";
import { checkIsAgent, checkIsLog, checkIsSeq } from "../check-arguments.ts";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import type { Agent } from "../define-agent.ts";
import { inTurns } from "../durable/in-turns.ts";
import { SessionError } from "../durable/session-error.ts";
import { headerToState } from "../durable/session-header.ts";
import { InputRefused, type Receipt, type Session } from "../session/session.ts";
import { startSession } from "../start-session.ts";
import { withTools } from "../team/member-at.ts";
import { comparableState } from "./volatile-fields.ts";
import { differencesOf, type Difference } from "./differences.ts";
import { unschedulingInputs, withoutOpenWork } from "./open-work.ts";
import { end, positionOf, readSession } from "./read-session.ts";
import { isUpdateByApplication, recipeOf } from "./recorded-data.ts";
import { recordingsOf, type Recordings } from "./recordings.ts";

const forms: OptionForms<RerunOptions> = {
  from: "number",
  unrecorded: oneOf("fail", "run"),
  clock: "clock",
  context: "any",
};

/** The options of `rerunSession`. */
export interface RerunOptions {
  /** The record after which the rerun begins. 0 runs the whole conversation again. */
  readonly from: number;
  /**
   * What happens to a call without a recorded result: `fail`, with an error that the model reads, or `run` the tool.
   * Default: `fail`.
   */
  readonly unrecorded?: "fail" | "run";
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /** What handlers, and tools that run, get as `context.context`. Required for an agent that needs it. Default: none. */
  readonly context?: unknown;
}

/** The result of a rerun beside the recorded run: final states, traces and differences. */
export interface Rerun {
  readonly recorded: { readonly state: AgentState; readonly trace: Trace };
  readonly state: AgentState;
  readonly trace: Trace;
  /** The differences of the final states, without times, ids and owners. */
  readonly differences: readonly Difference[];
  /** The number of calls without a recorded result. */
  readonly unrecordedCalls: number;
  /**
   * The number of changes by the application, and of calls with a change, that do not fit the data of the rerun. Such a change
   * was left out, with the later ones of its call.
   */
  readonly droppedUpdates: number;
}

/**
 * Runs a recorded session again from one of its positions, with another agent, such as one with another model or
 * prompt. Work that is open at the position starts again, and the later user messages are sent in order, each after the
 * answer to the one before. Tools return their recorded results and questions get their recorded decisions, by tool
 * name and arguments, so no tool runs twice; a question without a recorded decision is rejected. Changes of application
 * data are repeated: those of a call as it made them, before and with its result, and those of the application in order,
 * each between two loops. Calls that run at once change the data in the recorded order. A rerun that begins in a pause is
 * resumed where the session was; later pauses are not repeated. Nothing is written to the log. Throws `BuildError` for an
 * invalid agent, and rejects with the errors of `readSession` and with
 * `InvalidOption`, also where `from` is missing or names a record that the session does not have.
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
  const { from, unrecorded = "fail", clock, context } = options;
  checkFrom(from);
  const session = await readSession(log, id);
  const recorded = await positionOf(session, end);
  const { seq, state, moves } = await positionOf(session, from);
  const inputs = withoutOpenWork(state, session.inputs.slice(0, seq));
  const beginning = beginReplay(headerToState(session.header));
  await inTurns(inputs, (input) => void beginning.apply(input));
  const tools = definitionsOf(agent);
  const run = { whole: recorded.state, start: state, seq, inputs: session.inputs, tools };
  for (const input of unschedulingInputs(beginning.state(), "rerun")) beginning.apply(input);
  const recordings = recordingsOf(run, unrecorded);
  const rerun = startSession(
    // A handoff changes nothing but the session itself.
    withTools(agent, (tool) =>
      agent.team !== undefined && tool.name === handOffToolName ? tool : recordings.withRecordedResults(tool),
    ),
    {
      // The rerun has an id of its own, so that its idempotency keys differ from those of the recorded session.
      state: beginning.state(),
      context,
      ...(clock === undefined ? {} : { clock }),
      // The recorded files are loaded; new ones stay in the state of the rerun.
      ...(log.blobs === undefined ? {} : { blobs: { store: log.blobs, maxInlineBytes: Infinity } }),
    },
  );
  let droppedUpdates = 0;
  try {
    recordings.order.follow(rerun);
    answerAsRecorded(rerun, recordings);
    await rerun.settled();
    for (const input of session.inputs.slice(seq)) {
      if (isUpdateByApplication(input)) {
        if (!(await repeatUpdate(rerun, input))) droppedUpdates += 1;
      } else {
        await repeatInput(rerun, input, recorded.state);
        await rerun.settled();
      }
    }
  } finally {
    await rerun.close();
  }
  const { streaming: _, ...result } = rerun.current();
  return {
    recorded: { state: recorded.state, trace: traceOf(recorded.moves.slice(moves.length)) },
    state: result,
    trace: rerun.trace(),
    differences: differencesOf(comparableState(recorded.state), comparableState(result)),
    unrecordedCalls: recordings.missing,
    droppedUpdates: droppedUpdates + recordings.droppedUpdates,
  };
}

/** Repeats the message of a person or of a schedule, or a resume, which has an effect only where the rerun began in a pause. */
async function repeatInput<Answer>(
  rerun: Session<Answer>,
  input: AgentInput,
  recorded: AgentState,
): Promise<void> {
  if (input.type === "user-message-received") await rerun.dispatch(factOf(input));
  if (input.type === "session-resumed") await rerun.resume();
  if (input.type !== "deadline-passed" || !isScheduleKey(input.key)) return;
  const due = messageOf(recorded, scheduledMessageId(input.key));
  if (due !== undefined) await rerun.send(due.content);
}

/** The definitions of the tools of an agent, and of all agents of a team. */
const definitionsOf = ({ tools, team }: Agent<unknown>): AgentState["tools"] =>
  Object.assign({}, ...[...(team?.agents.values() ?? [])].map((member) => member.tools), tools);

/** Makes a recorded change of the application. Returns false if it does not fit, or the agent has no data. */
async function repeatUpdate<Answer>(
  session: Session<Answer>,
  { patches, by }: InputOf<"data-changed">,
): Promise<boolean> {
  try {
    await session.update(recipeOf(patches), by);
    return true;
  } catch (error) {
    if (error instanceof DataRefused || (error instanceof InputRefused && error.code === "no-data"))
      return false;
    throw error;
  }
}

function checkFrom(from: unknown): void {
  if (from === undefined) {
    const fix = "Give the record after which the rerun begins; 0 runs the whole conversation again.";
    throw new SessionError("InvalidOption", `from is missing. ${fix}`);
  }
  checkIsSeq("from", from);
}

/** Answers each question with its recorded decision. */
function answerAsRecorded<Answer>(session: Session<Answer>, recordings: Recordings): void {
  session.onEvent((event) => {
    if (event.type !== "ApprovalRequested") return;
    const { decision, by } = recordings.decisionOn(event.name, event.parameters) ?? rejection;
    const reject = (): Promise<Receipt> => session.decide(event, rejection.decision, rejection.by);
    const leaveOut = (): void => recordings.order.leaveOut(event.toolCallId);
    // A recorded decision may not fit the present tool or question.
    session
      .decide(event, decision, by)
      .then((receipt) => (receipt.status === "accepted" ? receipt : reject()))
      .catch(() => reject())
      // A question that stays open holds up no other call.
      .then((receipt) => (receipt.status === "accepted" ? undefined : leaveOut()))
      .catch(() => leaveOut());
  });
}

const rejection = {
  decision: { reject: "The recorded session has no decision on this question." },
  by: "rerun",
} as const;
