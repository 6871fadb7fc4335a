import { effectsAt, llmRequestAt } from "@moora/agent-core-effects";
import {
  agentTransition,
  controlName,
  isLoopRunning,
  nextStateName,
  parseState,
  step,
  ignoredReason,
  type AgentInput,
  type AgentState,
  type ControlMove,
} from "@moora/agent-core-state-machine";
import {
  isScheduleKey,
  openCallOf,
  openCallsOf,
  recordOf,
  toolOf,
} from "@moora/agent-core-state-machine/internal";
import { assertLaw, firstDifference } from "./law-broken.ts";
import { checkRequest } from "./request-laws.ts";

/**
 * L1: the same state and input give the same next state, the same changes and the same moves, with their notes, also if the
 * state was read from JSON.
 */
export function checkSame(input: AgentInput, before: AgentState, next: AgentState): void {
  const again = step(input)(before);
  const difference = firstDifference(again.state, next);
  assertLaw(difference === undefined, "L1", () => `the same state and input give two states: ${difference}`);
  // L2 holds that the copy is a state.
  const copy: AgentState = JSON.parse(JSON.stringify(before));
  const fromJson = step(input)(copy);
  const changed =
    firstDifference(fromJson.state, next) ??
    firstDifference(fromJson.changes, again.changes, "changes") ??
    firstDifference(fromJson.moves, again.moves, "moves");
  assertLaw(
    changed === undefined,
    "L1",
    () => `a state that was read from JSON changes otherwise: ${changed}`,
  );
}

/** L2: a state survives JSON, and matches its schema. */
export function checkJson(state: AgentState): void {
  const thawed: unknown = JSON.parse(JSON.stringify(state));
  const lost = firstDifference(thawed, state);
  assertLaw(lost === undefined, "L2", () => `the state does not survive JSON: ${lost}`);
  const parsed = parseState(thawed);
  assertLaw(
    parsed.ok,
    "L2",
    () => `the state does not fit its schema: ${parsed.ok ? "" : parsed.problem.path}`,
  );
}

/** L3: an input without a change returns the same reference, and has an ignored reason. */
export function checkReference(input: AgentInput, before: AgentState, next: AgentState): void {
  const ignored = ignoredReason(input)(before);
  assertLaw(
    (ignored === undefined) === (next !== before),
    "L3",
    () =>
      `an input that ${ignored === undefined ? "applies keeps" : `is ignored (${ignored}) changes`} the reference`,
  );
}

/**
 * L8: the moves follow rows without a gap, or end in Error with a failure of the graph. Where a configuration takes the state of
 * an ended loop out of the terminal states, the loop stays ended, in Done, without a move.
 */
export function checkMoves(
  input: AgentInput,
  before: AgentState,
  next: AgentState,
  moves: readonly ControlMove[],
): void {
  let at = controlName(before.reActContext.control);
  const staysEnded = input.type === "agent-configured" && moves.length === 0 && wasTerminal(at, before, next);
  for (const { from, event, to } of moves) {
    const opensLoop = from === "Idle";
    assertLaw(from === at || opensLoop, "L8", () => `a move leaves ${from} while control is in ${at}`);
    const row = nextStateName(next.config.graph, from, event);
    assertLaw(
      to === row || to === "Error",
      "L8",
      () => `${from} --${event}--> ${to} is not a row of the table`,
    );
    at = to;
  }
  const { control } = next.reActContext;
  const expected = staysEnded ? "Done" : at;
  assertLaw(
    expected === controlName(control),
    "L8",
    () => `control is in ${controlName(control)}, its moves lead to ${expected}`,
  );
}

const wasTerminal = (name: string, before: AgentState, next: AgentState): boolean =>
  before.config.graph.terminals.includes(name) && !next.config.graph.terminals.includes(name);

/**
 * L10: in every state, a cancel ends the loop and leaves nothing open, and the next message results in a request that is
 * valid by the rules that all providers share. L7 checks the requests that are made against the rules of each provider.
 */
export function checkNeverStuck(state: AgentState): void {
  const timestamp = state.updatedAt;
  const cancelled = agentTransition({ type: "re-act-cancelled", timestamp })(state);
  assertLaw(
    isLoopRunning(state) === (cancelled !== state),
    "L10",
    () => "a cancel does not work on a running loop",
  );
  assertLaw(!isLoopRunning(cancelled), "L10", () => "a loop still runs after a cancel");
  // Only schedules stay.
  const isOver = Object.keys(effectsAt(cancelled)).every(isScheduleKey);
  assertLaw(isOver, "L10", () => "work is open after a cancel");
  const isAnswered = Object.values(cancelled.toolCalls).every(({ result }) => result !== null);
  assertLaw(isAnswered, "L10", () => "a call has no result after a cancel");
  const isWritten = cancelled.messages.every(({ streaming }) => !streaming);
  assertLaw(isWritten, "L10", () => "a message is still streamed after a cancel");
  const messageId = `after-cancel-${state.messages.length}`;
  const asked = agentTransition({ type: "user-message-received", messageId, content: "?", timestamp })(
    cancelled,
  );
  assertLaw(asked !== cancelled, "L10", () => "a message after a cancel is not accepted");
  const request = llmRequestAt(asked);
  if (request === undefined) return checkEndedAtOnce(asked);
  checkRequest(request, {}, "L10");
}

/** Whether a new loop ended without a request because the total budget was reached before. */
function checkEndedAtOnce({ reActContext: { control } }: AgentState): void {
  const ended = control.type === "Error" && control.failure.kind === "BudgetExceeded";
  assertLaw(ended || control.type === "Custom", "L10", () => "a new message does not result in a model call");
}

const attemptOf = ({ reActContext: { control } }: AgentState, id: string): number =>
  openCallOf(control, id)?.attempt ?? 1;

const runningAt = ({ reActContext: { control } }: AgentState): number =>
  openCallsOf(control).filter((call) => call.status.type === "running").length;

/** Whether a call may be interrupted any number of times. */
const isResumable = (state: AgentState, id: string): boolean =>
  toolOf(state, recordOf(state, id)?.name ?? "")?.resumable === true;

/** L11: limits are never exceeded (a lowered one is not exceeded further); an open call is open once, without a result. */
export function checkLimits(before: AgentState, state: AgentState): void {
  const { config, reActContext: context } = state;
  assertLaw(
    context.step <= context.stepLimit || context.step <= before.reActContext.step,
    "L11",
    () => "the step limit is exceeded",
  );
  const calls = openCallsOf(context.control);
  const running = runningAt(state);
  const most = config.toolCalls.parallel ? config.toolCalls.maxParallel : 1;
  assertLaw(
    running <= most || running <= runningAt(before),
    "L11",
    () => `${running} calls run where ${most} may`,
  );
  assertLaw(new Set(calls.map((call) => call.id)).size === calls.length, "L11", () => "a call is open twice");
  for (const { id, attempt, failures = 0, questions, status } of calls) {
    assertLaw(recordOf(state, id)?.result === null, "L11", () => `the open call ${id} has a result`);
    // A probe may follow the last attempt.
    const probes = status.type === "probing" ? 1 : 0;
    const asked = Math.max(config.retries.maxToolAttempts + probes, attemptOf(before, id));
    const mostAttempts = isResumable(state, id) ? Infinity : asked + questions + failures;
    assertLaw(attempt <= mostAttempts, "L11", () => `call ${id} is at attempt ${attempt}`);
  }
}
