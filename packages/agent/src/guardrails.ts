import type {
  Guardrail,
  GuardrailAnswerVerdict,
  GuardrailCheck,
  GuardrailContext,
  LateDecision,
  StateContext,
  StateDecision,
} from "@moora/agent-core-effects";
import {
  errorText,
  optionForms,
  refuse,
  required,
  type OptionForms,
} from "@moora/agent-core-effects/internal";
import {
  controlEdges,
  failureText,
  isPaused,
  type AgentState,
  type ControlGraph,
  type Replacement,
  type ToolCallRecord,
} from "@moora/agent-core-state-machine";
import {
  callIdsOf,
  messageOf,
  recordOf,
  toolOf,
  transcriptOf,
} from "@moora/agent-core-state-machine/internal";
import { checkOptions } from "./check-options.ts";
import type { StateDefinition } from "./custom-states.ts";

/** The states that check what a request contains for the first time, and the states in which requests are made. */
const guards = { Guarding: "Planning", GuardingSummary: "Reflecting" } as const;
const answerGuard = "GuardingAnswer";

type Place = "input" | "result" | "answer";

/** What became of a text before. */
interface Left {
  /** It is of an earlier loop, which must not end this one. */
  readonly isEarlier: boolean;
  /** Its loop was canceled: what a person was asked about is refused. */
  readonly isRefused: boolean;
}

/** A text to check, and how another one takes its place. */
interface Item extends Left {
  readonly text: string;
  readonly places: readonly Place[];
  readonly about: Pick<GuardrailContext, "files" | "call">;
  readonly replacedBy: (content: string) => Replacement;
}

/** The graph and the handlers of an agent with its guardrails. Each check is the work of a custom state. */
export function withGuardrails(
  graph: ControlGraph,
  guardrails: readonly Guardrail[],
  names: readonly string[],
): { readonly graph: ControlGraph; readonly states: Readonly<Record<string, StateDefinition>> } {
  if (guardrails.length === 0) return { graph, states: {} };
  guardrails.forEach(checkGuardrail);
  const own = [...Object.keys(guards), answerGuard];
  const taken = own.find((name) => names.includes(name) || graph.states.includes(name));
  if (taken !== undefined) refuse(`The state ${taken} is that of the guardrails. Give yours another name.`);
  let guarded = graph;
  const states: Record<string, StateDefinition> = {};
  for (const [name, target] of Object.entries(guards)) {
    guarded = guardedBefore(guarded, name, target);
    states[name] = { replay: "safe", handle: (state, context) => checkUnread(guardrails, state, context) };
  }
  if (guardrails.some(({ answer }) => answer !== undefined)) {
    guarded = guardedAnswer(guarded);
    states[answerGuard] = {
      replay: "safe",
      handle: (state, context) => checkAnswer(guardrails, state, context),
    };
  }
  return { graph: guarded, states };
}

/** All that leads to a state in which requests are made leads to its guard. What a plan leads to was checked before the plan. */
function guardedBefore(graph: ControlGraph, name: string, target: string): ControlGraph {
  const rows: Record<string, Readonly<Record<string, string | null>>> = { ...graph.rows };
  const out: Record<string, string> = {
    Continue: target,
    CheckAgain: name,
    Blocked: "Error",
    HandlerFailed: "Error",
  };
  for (const { from, event, to } of controlEdges(graph)) {
    if (to !== target || event === "LlmRetry" || (from === "Planning" && target === "Reflecting")) continue;
    rows[from] = { ...rows[from], [event]: name };
    out[event] = target;
  }
  return { ...graph, states: [...graph.states, name], rows: { ...rows, [name]: out } };
}

/** The events of Planning whose turn is an answer: the loop ends with it, or the model answers once more. */
const answerEvents = ["LlmFinalAnswer", "UserInterjected", "AnswerInvalid", "AnswerTooShort"] as const;

function guardedAnswer(graph: ControlGraph): ControlGraph {
  const planning = { ...graph.rows["Planning"] };
  const out: Record<string, string> = {
    AnswerInvalid: "Guarding",
    AskedPerson: answerGuard,
    AskAgain: answerGuard,
    HandlerInterrupted: answerGuard,
    HandlerFailed: "Error",
    Blocked: "Error",
  };
  for (const { from, event, to } of controlEdges(graph)) {
    if (from !== "Planning" || !answerEvents.some((name) => name === event)) continue;
    planning[event] = answerGuard;
    out[event] = to;
  }
  return {
    ...graph,
    states: [...graph.states, answerGuard],
    rows: { ...graph.rows, Planning: planning, [answerGuard]: out },
  };
}

const forms: OptionForms<Guardrail> = {
  name: required(optionForms.string),
  input: "function",
  result: "function",
  answer: "function",
};

function checkGuardrail(guardrail: Guardrail, index: number): void {
  const place = `guardrails[${index}]`;
  checkOptions(place, guardrail, forms, { placeOf: (path) => `${place}.${path}` });
  if (guardrail.input === undefined && guardrail.result === undefined && guardrail.answer === undefined)
    refuse(`${place} checks nothing. Give it a function input, result or answer.`);
}

/** Checks what the next request contains for the first time: messages, and the results of the newest turn. */
async function checkUnread(
  guardrails: readonly Guardrail[],
  state: AgentState,
  context: StateContext,
): Promise<LateDecision> {
  const items = unreadAt(state);
  const found = new Findings(state, context);
  for (const item of items) for (const guardrail of guardrails) await found.add(guardrail, item);
  const event = context.event === "CheckAgain" ? "Continue" : context.event;
  return found.decision((now) => {
    const after = unreadAt(now);
    const isSame =
      after.length === items.length && after.every(({ text }, index) => text === items[index]?.text);
    return isSame ? event : "CheckAgain";
  });
}

async function checkAnswer(
  guardrails: readonly Guardrail[],
  state: AgentState,
  context: StateContext,
): Promise<LateDecision> {
  const found = new Findings(state, context);
  // The model answers again by itself. The text stays in the conversation.
  const isLeft = context.event === "AnswerInvalid" || context.event === "AnswerTooShort";
  const item = answerIn(state, newestTurnAt(state), { isEarlier: isLeft, isRefused: isLeft });
  // After a resume the answer is allowed, as it was shown.
  if (item !== undefined && context.event !== "AskedPerson")
    for (const guardrail of guardrails) await found.add(guardrail, item);
  return found.decision(({ reActContext: { queued } }) => {
    if (isLeft) return context.event;
    if (found.asks) return "AskedPerson";
    return queued.some(({ type }) => type === "message") ? "UserInterjected" : "LlmFinalAnswer";
  });
}

/** Where a loop is led that does not go on as it would, from the strongest verdict. */
const endEvents = { failed: "HandlerFailed", block: "Blocked", retry: "AnswerInvalid" } as const;

/** What the checks of one state have said. */
class Findings {
  readonly #replaced: Replacement[] = [];
  readonly #notes: string[] = [];
  readonly #reasons: Partial<Record<keyof typeof endEvents, string>> = {};
  readonly #asks: string[] = [];
  /** The text of an item after its replacements. */
  readonly #texts = new Map<Item, string>();
  readonly #given: Omit<GuardrailContext, "files" | "call">;

  constructor(state: AgentState, { signal, idempotencyKey, attempt, now, callTool }: StateContext) {
    this.#given = { state, signal, idempotencyKey, attempt, now, callTool };
  }

  /** Whether a person is asked. What is blocked or answered again is not. */
  get asks(): boolean {
    return this.#asks.length > 0 && this.#end === undefined;
  }

  get #end(): keyof typeof endEvents | undefined {
    return (["failed", "block", "retry"] as const).find((end) => this.#reasons[end] !== undefined);
  }

  /** Checks an item in each of its places, unless the loop ends already. */
  async add(guardrail: Guardrail, item: Item): Promise<void> {
    const { name } = guardrail;
    for (const place of item.places) {
      const check: GuardrailCheck<GuardrailAnswerVerdict> | undefined = guardrail[place];
      const hasEnded = this.#reasons.failed !== undefined || this.#reasons.block !== undefined;
      if (check === undefined || hasEnded) continue;
      try {
        const said = await check(this.#texts.get(item) ?? item.text, { ...item.about, ...this.#given });
        // Callers without types may return null.
        if (said != null) this.#take(name, item, verdictOf(said, place));
      } catch (error) {
        this.#fail(name, item, place, errorText(error));
      }
    }
  }

  #take(name: string, item: Item, [kind, text]: readonly [Kind, string]): void {
    this.#notes.push(`${name}: ${kind}`);
    const reason = `${name}: ${text}`;
    if (kind === "replace") return this.#replace(item, text.trim() === "" ? `[removed by ${name}]` : text);
    if (kind === "ask")
      return item.isRefused ? this.#replace(item, `[${reason}]`) : void this.#asks.push(reason);
    this.#replace(item, `[${reason}]`);
    if (!item.isEarlier) this.#reasons[kind] ??= reason;
  }

  /** What could not be checked ends its loop. What would not be checked again, or would end each later loop, is replaced. */
  #fail(name: string, item: Item, place: Place, error: string): void {
    if (item.isEarlier || place === "answer") this.#replace(item, `[${name}: The check has failed.]`);
    if (!item.isEarlier) this.#reasons.failed = `${name}: ${error}`;
  }

  #replace(item: Item, content: string): void {
    this.#texts.set(item, content);
    this.#replaced.push(item.replacedBy(content));
  }

  /** The decision with which the state is left by an event, unless a verdict leads elsewhere. Nothing of it applies to a state that has changed. */
  decision(eventAt: (state: AgentState) => string): LateDecision {
    const said = {
      ...(this.#replaced.length === 0 ? {} : { replaced: this.#replaced }),
      ...(this.#notes.length === 0 ? {} : { trace: { text: this.#notes.join("; ") } }),
    };
    const end = this.#end;
    const at = (state: AgentState): StateDecision => {
      const event = eventAt(state);
      // A person who has paused the session has not seen what is asked: the check comes again after that pause.
      if (event === "CheckAgain" || (this.asks && isPaused(state)))
        return event === "AskedPerson" ? "AskAgain" : "CheckAgain";
      const reason = end === undefined ? undefined : this.#reasons[end];
      if (end === "retry") return { event: endEvents.retry, note: reason ?? "", ...said };
      if (end !== undefined) return { event: endEvents[end], reason: reason ?? "", ...said };
      return this.asks ? { event, pause: this.#asks.join("; "), ...said } : { event, ...said };
    };
    return { at, mayPause: this.asks };
  }
}

type Kind = "replace" | "block" | "ask" | "retry";

/** Throws `TypeError` for what is not a verdict: callers without types may return anything. */
function verdictOf(said: GuardrailAnswerVerdict, place: Place): readonly [Kind, string] {
  const kinds: readonly Kind[] =
    place === "answer" ? ["replace", "block", "ask", "retry"] : ["replace", "block", "ask"];
  for (const kind of kinds) {
    const text: unknown = Reflect.get(said, kind);
    if (typeof text === "string") return [kind, text];
  }
  throw new TypeError(
    `A check of this place returns ${kinds.map((kind) => `{ ${kind} }`).join(", ")} with a text, or nothing.`,
  );
}

function newestTurnAt(state: AgentState): number {
  const transcript = transcriptOf(state);
  let index = transcript.length - 1;
  while (index >= 0 && transcript.at(index)?.type !== "turn") index -= 1;
  return index;
}

/** The messages since the newest turn, also those in the queue; the results of that turn, and its text if its loop was canceled then. */
function unreadAt(state: AgentState): readonly Item[] {
  const { loopStart, queued, startedAt } = state.reActContext;
  const transcript = transcriptOf(state);
  const turnAt = newestTurnAt(state);
  const canceledAt = canceledAfter(state, turnAt);
  const leftAt = (index: number): Left => ({ isEarlier: index < loopStart, isRefused: index < canceledAt });
  const turn = transcript.at(turnAt);
  const items: (Item | undefined)[] = [];
  if (turnAt >= 0 && turn?.type === "turn" && turn.withheld !== true) {
    if (canceledAt >= 0) items.push(answerIn(state, turnAt, { isEarlier: true, isRefused: true }));
    for (const id of callIdsOf(turn)) items.push(resultItem(state, id, leftAt(turnAt)));
  }
  for (let index = turnAt + 1; index < transcript.length; index += 1) {
    const entry = transcript.at(index);
    if (entry?.type === "message" && entry.withheld !== true)
      items.push(messageItem(state, entry.messageId, leftAt(index)));
  }
  for (const entry of queued) {
    if (entry.type !== "message") continue;
    // A loop that ends before its plan leaves its messages in the queue.
    const isEarlier = (messageOf(state, entry.messageId)?.receivedAt ?? startedAt) < startedAt;
    items.push(messageItem(state, entry.messageId, { isEarlier, isRefused: isEarlier && canceledAt >= 0 }));
  }
  return items.filter((item) => item !== undefined);
}

/** The index of the newest note of a cancel after an entry; -1 without one. */
function canceledAfter(state: AgentState, from: number): number {
  const transcript = transcriptOf(state);
  for (let index = transcript.length - 1; index > from; index -= 1) {
    const entry = transcript.at(index);
    if (entry?.type === "note" && entry.says?.[0] === "cancelled") return index;
  }
  return -1;
}

function messageItem(state: AgentState, messageId: string, left: Left): Item | undefined {
  const message = messageOf(state, messageId);
  if (message === undefined) return undefined;
  const { content: text, attachments: files = [] } = message;
  const replacedBy = (content: string): Replacement => ({ type: "message", messageId, content });
  return { text, places: ["input"], about: { files }, ...left, replacedBy };
}

function resultItem(state: AgentState, toolCallId: string, left: Left): Item | undefined {
  const record = recordOf(state, toolCallId);
  if (record === undefined || record.result === null) return undefined;
  const { name, parameters, result } = record;
  const text = result.isSuccess ? result.content : failureText(result);
  const files = result.isSuccess ? (result.files ?? []) : [];
  const replacedBy = (content: string): Replacement => ({ type: "result", toolCallId, content });
  const about = { files, call: { id: toolCallId, name, parameters } };
  return { text, places: placesOf(state, record), about, ...left, replacedBy };
}

/** The answer of a person to a question is what a person writes, too. */
const placesOf = (state: AgentState, { name }: ToolCallRecord): readonly Place[] =>
  toolOf(state, name)?.asksHuman === true ? ["input", "result"] : ["result"];

function answerIn(state: AgentState, turnAt: number, left: Left): Item | undefined {
  const turn = turnAt < 0 ? undefined : transcriptOf(state).at(turnAt);
  if (turn?.type !== "turn") return undefined;
  const { parts } = turn;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const files = parts.flatMap((part) => (part.type === "file" ? [part.file] : []));
  if (text === "" && files.length === 0) return undefined;
  return {
    text,
    places: ["answer"],
    about: { files },
    ...left,
    replacedBy: (content) => ({ type: "answer", content }),
  };
}
