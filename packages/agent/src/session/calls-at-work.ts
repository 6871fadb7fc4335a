import { isLoopRunning, type AgentState, type OpenCall } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import type { Question } from "../agent-event.ts";
import type { Session } from "./session.ts";

/** The session of a sub-agent, as far as this shows whether it works. */
type WorkingSession = Pick<Session<unknown>, "questions" | "current">;

/** The sessions of the sub-agents in this process, by the calls that run them. */
type ChildrenByCall = Iterable<readonly [string, Iterable<WorkingSession>]>;

/** The sub-agents of sessions. The key is a method: the object of a session in a log is a copy of another one, with the same methods. */
const children = new WeakMap<WorkingSession["questions"], () => ChildrenByCall>();

/** Makes the sub-agents of a session known, by its method `questions`. */
export const registerChildren = (questions: WorkingSession["questions"], of: () => ChildrenByCall): void =>
  void children.set(questions, of);

/** The calls of a session whose sub-agents run in this process and do not only wait for a human, also if they ask something. */
export function callsAtWork({ questions }: Pick<WorkingSession, "questions">): ReadonlySet<string> {
  const byCall = [...(children.get(questions)?.() ?? [])];
  return new Set(byCall.flatMap(([id, sessions]) => ([...sessions].some(isAtWork) ? [id] : [])));
}

function isAtWork(session: WorkingSession): boolean {
  const state = session.current();
  if (!isLoopRunning(state)) return false;
  return !waitsForHuman(state, session.questions(), callsAtWork(session));
}

/**
 * Whether the loop of a session, which runs, waits for nothing but a human. `questions` are all that are open, with those of sub-agents;
 * `working` are the calls whose sub-agents do more than ask.
 */
export function waitsForHuman(
  { reActContext: { control } }: AgentState,
  questions: readonly Question[],
  working: ReadonlySet<string>,
): boolean {
  const calls = openCallsOf(control);
  const asking = new Set(questions.flatMap(({ path = [] }) => path.slice(0, 1)));
  const isWorking = ({ id, status: { type } }: OpenCall): boolean =>
    type === "probing" || type === "retrying" || (type === "running" && (!asking.has(id) || working.has(id)));
  const isAsking = asking.size > 0 || calls.some(({ status }) => status.type === "asking");
  return isAsking && !calls.some(isWorking);
}
