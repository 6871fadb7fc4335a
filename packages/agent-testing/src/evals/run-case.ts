import {
  answerTextAt,
  initialStateOf,
  readHeader,
  rerunSession,
  startSession,
  stateAt,
  userMessage,
  type Agent,
  type AgentState,
  type SessionHeader,
} from "@moora/agent";
import { callsSince, importForReading } from "@moora/agent/internal";
import { refuse } from "@moora/agent-core-effects/internal";
import { memoryLog } from "@moora/event-log";
import { textToJson } from "@moora/llm/internal";
import type { EvalCase } from "./eval-case.ts";
import type { EvaluateOptions } from "./evaluate.ts";
import type { EvalRun } from "./scorers.ts";

/** The recorded session of a case: its agent, and its last state. */
export interface RecordedCase {
  readonly agent: SessionHeader["agent"];
  readonly state: AgentState;
}

/** What became of a case, before it is scored. */
export interface CaseRun extends Omit<EvalRun, "expected"> {
  /** The state at which the run began. */
  readonly start: AgentState;
  readonly notes: readonly string[];
}

type RunOptions = Required<Pick<EvaluateOptions, "agent" | "unrecorded" | "clock">> &
  Pick<EvaluateOptions, "context">;

/** Runs a case. Rejects for a session that is damaged, or of another agent. */
export async function runCase(each: EvalCase, options: RunOptions): Promise<CaseRun> {
  const { session } = each;
  const run = session === undefined ? await runNew(each, options) : await runAgain(each, session, options);
  const calls = callsSince(run.start, run.state).map(({ name, parameters }) => ({
    name,
    arguments: textToJson(parameters) ?? parameters,
  }));
  return { ...run, case: each, calls, output: answerTextAt(run.state) };
}

type Ended = Pick<CaseRun, "agent" | "start" | "state" | "recorded" | "notes">;

const agentOf = async (
  { agent }: RunOptions,
  each: EvalCase,
  recorded?: RecordedCase,
): Promise<Agent<unknown>> => (typeof agent === "function" ? await agent(each, recorded) : agent);

async function runNew(each: EvalCase, options: RunOptions): Promise<Ended> {
  const agent = await agentOf(options, each);
  const { clock, context } = options;
  const onApproval = (): { reject: string } => ({ reject: "An evaluation has no reviewer." });
  const session = startSession(agent, { clock, context, onApproval });
  try {
    for (const text of [each.input ?? []].flat()) {
      await session.dispatch(userMessage(text));
      await session.settled();
      // After a next message the loop would be another one, which may succeed.
      if (session.current().reActContext.control.type === "Error") break;
    }
  } finally {
    await session.close();
  }
  return { agent, start: initialStateOf(agent), state: session.current(), recorded: undefined, notes: [] };
}

async function runAgain(each: EvalCase, text: string, options: RunOptions): Promise<Ended> {
  const log = memoryLog();
  const id = await importForReading(log, text);
  const { agent: recorder } = await readHeader(log, id);
  const { state: last } = await stateAt(log, id);
  const agent = await agentOf(options, each, { agent: recorder, state: last });
  if (agent.name !== recorder.name)
    refuse(`The session was recorded by the agent "${recorder.name}", and this agent is "${agent.name}".`);
  const { clock, unrecorded, context } = options;
  const { at: from = 0 } = each;
  const { state: start } = await stateAt(log, id, from);
  const rerun = await rerunSession(agent, log, id, { from, clock, unrecorded, context });
  const { state, unrecordedCalls, droppedUpdates } = rerun;
  const notes = [
    [agent.version !== recorder.version, `recorded by version ${recorder.version}, run by ${agent.version}`],
    [unrecordedCalls > 0, `${unrecordedCalls} calls have no recorded result`],
    [droppedUpdates > 0, `${droppedUpdates} changes of the data do not fit`],
  ] as const;
  const recorded = answerTextAt(last);
  return { agent, start, state, recorded, notes: notes.flatMap(([holds, note]) => (holds ? [note] : [])) };
}
