import { effectsAt, llmRequestAt, type AgentEffect } from "@moora/agent-core-effects";
import {
  agentTransition,
  controlName,
  loopRuns,
  nextStateName,
  openCallOf,
  openCallsOf,
  parseState,
  recordOf,
  replay,
  step,
  whyIgnored,
  type AgentInput,
  type AgentState,
  type ControlMove,
} from "@moora/agent-core-state-machine";
import type { LlmMessage, LlmRequest } from "@moora/llm";
import { frozen } from "./frozen.ts";
import { assertLaw, firstDifference } from "./law-broken.ts";
import { requestProblems } from "./request-problems.ts";

/** Turns a request into a provider's own JSON and says what that provider would refuse. */
export type Dialect = (request: LlmRequest) => readonly string[];

export interface LawsOptions {
  readonly from: AgentState;
  /** Beside the rules that all providers share. */
  readonly dialects?: Readonly<Record<string, Dialect>>;
  /** Whether the whole transcript is replayed after each input (L9). It costs the square of its length. */
  readonly replays?: boolean;
}

/** Holds a conversation to the laws: every input that is applied is checked against L1 to L11. */
export interface LawKeeper {
  readonly state: AgentState;
  readonly inputs: readonly AgentInput[];
  readonly moves: readonly ControlMove[];
  apply(input: AgentInput): AgentState;
}

/** Answers of this many past inputs are offered again after each new one (L6). */
const lateAnswers = 40;

export function keepLaws({ from, dialects = {}, replays = true }: LawsOptions): LawKeeper {
  let state = frozen(from);
  const inputs: AgentInput[] = [];
  const applied: AgentInput[] = [];
  const moves: ControlMove[] = [];
  const keys = new KeyLedger();
  const requests = new RequestLedger(dialects);
  keys.follow(state);

  return {
    get state() {
      return state;
    },
    inputs,
    moves,
    apply(input) {
      frozen(input);
      const before = state;
      const stepped = step(input)(before);
      const next = frozen(stepped.state);
      checkTransition(input, before, next);
      inputs.push(input);
      moves.push(...stepped.moves);
      checkMoves(before, next, stepped.moves);
      checkAnswer(input, before, next);
      if (next !== before) {
        keys.follow(next);
        requests.follow(next);
        checkReplay(inputs, from, next, replays);
        applied.push(input);
        checkLate(applied, next);
        checkLimits(before, next);
      }
      checkNeverStuck(next, dialects);
      state = next;
      return next;
    },
  };
}

function checkTransition(input: AgentInput, before: AgentState, next: AgentState): void {
  const again = agentTransition(input)(before);
  const difference = firstDifference(again, next);
  assertLaw(difference === undefined, "L1", () => `the same state and input give two states: ${difference}`);
  const ignored = whyIgnored(input)(before);
  assertLaw(
    (ignored === undefined) === (next !== before),
    "L3",
    () =>
      `an input that ${ignored === undefined ? "applies keeps" : `is ignored (${ignored}) changes`} the reference`,
  );
  if (next === before) return;
  const thawed: unknown = JSON.parse(JSON.stringify(next));
  const lost = firstDifference(thawed, next);
  assertLaw(lost === undefined, "L2", () => `the state does not survive JSON: ${lost}`);
  const parsed = parseState(thawed);
  assertLaw(
    parsed.ok,
    "L2",
    () => `the state is none by its schema: ${parsed.ok ? "" : parsed.problem.path}`,
  );
}

function checkReplay(
  inputs: readonly AgentInput[],
  from: AgentState,
  live: AgentState,
  whole: boolean,
): void {
  if (!whole) return;
  const difference = firstDifference(replay(inputs, from), live);
  assertLaw(difference === undefined, "L9", () => `the replayed state is another: ${difference}`);
}

/** L8: the walk is along rows, without a gap, or it ends in Error for a reason of the graph's own. */
function checkMoves(before: AgentState, next: AgentState, moves: readonly ControlMove[]): void {
  let at = controlName(before.reActContext.control);
  for (const { from, event, to } of moves) {
    const opensLoop = from === "Idle";
    assertLaw(from === at || opensLoop, "L8", () => `a move leaves ${from} while control is in ${at}`);
    const row = nextStateName(next.config.graph, from, event);
    assertLaw(to === row || to === "Error", "L8", () => `${from} --${event}--> ${to} is no row`);
    at = to;
  }
  const { control } = next.reActContext;
  assertLaw(
    at === controlName(control),
    "L8",
    () => `control is in ${controlName(control)}, its moves lead to ${at}`,
  );
}

/** The key of the effect that an input answers, as far as it can be told from the state before. */
export function answeredKey(input: AgentInput, before: AgentState): string | undefined {
  if (input.type === "re-act-observed") return planKeyAt(before);
  if (answersByKey.has(input.type)) return "key" in input ? input.key : undefined;
  if (!answersByCall.has(input.type) || !("toolCallId" in input)) return undefined;
  return Object.values(effectsAt(before)).find(
    (effect) => "toolCallId" in effect && effect.toolCallId === input.toolCallId,
  )?.key;
}

const answersByKey: ReadonlySet<string> = new Set([
  "llm-call-failed",
  "history-reflected",
  "state-handled",
  "deadline-passed",
]);

const answersByCall: ReadonlySet<string> = new Set([
  "tool-call-completed",
  "tool-call-interrupted",
  "tool-call-decided",
]);

const planKeyAt = (state: AgentState): string | undefined =>
  Object.values(effectsAt(state)).find((effect) => effect.type === "call-llm")?.key;

function checkAnswer(input: AgentInput, before: AgentState, next: AgentState): void {
  const key = answeredKey(input, before);
  if (key === undefined || next === before) return;
  assertLaw(!Object.hasOwn(effectsAt(next), key), "L5", () => `${key} was answered and is still wanted`);
}

/** L6: what was answered once, offered again later, changes nothing. */
function checkLate(applied: readonly AgentInput[], state: AgentState): void {
  for (const input of applied.slice(-lateAnswers)) {
    if (!isAnswer(input)) continue;
    assertLaw(agentTransition(input)(state) === state, "L6", () => `a late ${input.type} changes the state`);
  }
}

/** Inputs that name what they answer, or whose call can be answered once only. */
const isAnswer = (input: AgentInput): boolean =>
  ("key" in input && input.key !== undefined) ||
  input.type === "tool-call-completed" ||
  input.type === "tool-call-interrupted" ||
  input.type === "tool-call-decided" ||
  input.type === "tool-call-started" ||
  input.type === "user-message-received";

/** L10: whatever the state, a cancel ends its loop and leaves nothing open, and the next message can be sent. */
function checkNeverStuck(state: AgentState, dialects: Readonly<Record<string, Dialect>>): void {
  const timestamp = state.updatedAt;
  const cancelled = agentTransition({ type: "re-act-cancelled", timestamp })(state);
  assertLaw(
    loopRuns(state) === (cancelled !== state),
    "L10",
    () => "a cancel does not work on a running loop",
  );
  assertLaw(!loopRuns(cancelled), "L10", () => "a loop runs on after a cancel");
  assertLaw(Object.keys(effectsAt(cancelled)).length === 0, "L10", () => "work is open after a cancel");
  const messageId = `after-cancel-${state.messages.length}`;
  const asked = agentTransition({ type: "user-message-received", messageId, content: "?", timestamp })(
    cancelled,
  );
  assertLaw(asked !== cancelled, "L10", () => "a message after a cancel is not taken");
  const request = llmRequestAt(asked);
  if (request === undefined) return checkEndedAtOnce(asked);
  checkRequest(request, dialects, "L10");
}

/** A new loop that makes no request ended on a limit that was reached before: the total budget. */
function checkEndedAtOnce({ reActContext: { control } }: AgentState): void {
  const ended = control.type === "Error" && control.failure.kind === "BudgetExceeded";
  assertLaw(ended || control.type === "Custom", "L10", () => "a message leads to no request");
}

function checkRequest(request: LlmRequest, dialects: Readonly<Record<string, Dialect>>, law: string): void {
  const [problem] = requestProblems(request);
  assertLaw(problem === undefined, law, () => `the request is not valid: ${problem}`);
  for (const [name, dialect] of Object.entries(dialects)) {
    const [refusal] = dialect(request);
    assertLaw(refusal === undefined, law, () => `${name} would refuse the request: ${refusal}`);
  }
}

const attemptOf = ({ reActContext: { control } }: AgentState, id: string): number =>
  openCallOf(control, id)?.attempt ?? 1;

const runningAt = ({ reActContext: { control } }: AgentState): number =>
  openCallsOf(control).filter((call) => call.status.type === "running").length;

/** L11: limits are never exceeded (a lowered one is not exceeded further), and each open call is open once and has no result. */
function checkLimits(before: AgentState, state: AgentState): void {
  const { config, reActContext: context } = state;
  assertLaw(
    context.step === 0 || context.step <= context.stepLimit,
    "L11",
    () => "the step limit is exceeded",
  );
  const calls = openCallsOf(context.control);
  const running = runningAt(state);
  const most = config.parallelTools ? config.maxParallelTools : 1;
  assertLaw(
    running <= most || running <= runningAt(before),
    "L11",
    () => `${running} calls run where ${most} may`,
  );
  assertLaw(new Set(calls.map((call) => call.id)).size === calls.length, "L11", () => "a call is open twice");
  for (const { id, attempt, questions } of calls) {
    assertLaw(recordOf(state, id)?.result === null, "L11", () => `the open call ${id} has a result`);
    const mostAttempts = Math.max(config.maxToolAttempts, attemptOf(before, id)) + questions;
    assertLaw(attempt <= mostAttempts, "L11", () => `call ${id} is at attempt ${attempt}`);
  }
}

/** L4: equal keys mean equal effects and requests; a key that was wanted and no longer is never returns. */
class KeyLedger {
  private readonly seen = new Map<string, string>();
  private readonly retired = new Set<string>();
  private wanted = new Set<string>();

  follow(state: AgentState): void {
    const effects = effectsAt(state);
    for (const key of this.wanted) if (!Object.hasOwn(effects, key)) this.retired.add(key);
    for (const [key, effect] of Object.entries(effects)) {
      assertLaw(key === effect.key, "L4", () => `${effect.key} stands under ${key}`);
      assertLaw(!this.retired.has(key), "L4", () => `the retired key ${key} is wanted again`);
      const told = JSON.stringify([effect, requestOf(effect, state)]);
      const known = this.seen.get(key);
      assertLaw(known === undefined || known === told, "L4", () => `${key} means two things`);
      this.seen.set(key, told);
    }
    this.wanted = new Set(Object.keys(effects));
  }
}

const requestOf = (effect: AgentEffect, state: AgentState): LlmRequest | undefined =>
  effect.type === "call-llm" ? llmRequestAt(state) : undefined;

/** L7: every request is valid, and within a window each begins with the one before. */
class RequestLedger {
  private last: { readonly messages: readonly LlmMessage[]; readonly horizon: string } | undefined;
  private readonly dialects: Readonly<Record<string, Dialect>>;

  constructor(dialects: Readonly<Record<string, Dialect>>) {
    this.dialects = dialects;
  }

  follow(state: AgentState): void {
    const request = llmRequestAt(state);
    if (request === undefined) return;
    checkRequest(request, this.dialects, "L7");
    if (request.purpose === "reflect") return;
    const horizon = horizonAt(state);
    const { last } = this;
    this.last = { messages: request.messages, horizon };
    if (last?.horizon !== horizon) return;
    const kept = last.messages.filter((message, index) => !isTrailingGoOn(last.messages, index, message));
    const broken = kept.findIndex(
      (message, index) => JSON.stringify(message) !== JSON.stringify(request.messages[index]),
    );
    assertLaw(broken === -1, "L7", () => `message ${broken} of the last request is another one in this`);
  }
}

/** The one message that stands for nothing in the transcript; what came after the answer may take its place. */
const isTrailingGoOn = (messages: readonly LlmMessage[], index: number, message: LlmMessage): boolean =>
  index === messages.length - 1 && message.role === "note" && message.text === "Go on.";

/** What may change the beginning of a request: the window, a summary, something withheld. */
function horizonAt({ transcript, reActContext: { windowStart, seen } }: AgentState): string {
  const visible = transcript.slice(0, seen);
  const summaries = visible.filter((entry) => entry.type === "summary").length;
  const withheld = visible.filter((entry) => entry.withheld === true).length;
  return `${windowStart}/${summaries}/${withheld}`;
}
