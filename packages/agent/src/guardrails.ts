import type {
  AnswerVerdict,
  Check,
  CheckContext,
  Guardrail,
  LateDecision,
  StateContext,
  StateDecision,
} from "@moora/agent-core-effects";
import { optionForms, refuse, required, type OptionForms } from "@moora/agent-core-effects/internal";
import {
  controlEdges,
  failureText,
  type AgentState,
  type ControlGraph,
  type Replacement,
} from "@moora/agent-core-state-machine";
import { callIdsOf, messageOf, recordOf, transcriptOf } from "@moora/agent-core-state-machine/internal";
import { checkOptions } from "./check-options.ts";
import { placed, type StateDefinition } from "./custom-states.ts";

/** The state before each plan, which checks what the model has not read; and the one after an answer. */
const before = "Guarding";
const after = "GuardingAnswer";

/** A text to check, and how another one takes its place. */
interface Item {
  readonly text: string;
  readonly about: Pick<CheckContext, "files" | "call">;
  /** The loop of it was canceled before the model read it. */
  readonly isRefused: boolean;
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
  const taken = [before, after].find((name) => names.includes(name) || graph.states.includes(name));
  if (taken !== undefined) refuse(`The state ${taken} is that of the guardrails. Give yours another name.`);
  const reads = guardrails.some(({ input, result }) => input !== undefined || result !== undefined);
  const answers = guardrails.some(({ answer }) => answer !== undefined);
  let guarded = graph;
  const states: Record<string, StateDefinition> = {};
  if (reads) {
    guarded = placed(guarded, { name: "Planning", side: "before", added: before });
    guarded = withRows(guarded, before, { Continue: "Planning", CheckAgain: before, Blocked: "Error" });
    states[before] = { replay: "safe", handle: (state, context) => checkUnread(guardrails, state, context) };
  }
  if (answers) {
    const edge = controlEdges(guarded).find(
      ({ from, event }) => from === "Planning" && event === "LlmFinalAnswer",
    );
    guarded = withRows(guarded, "Planning", { LlmFinalAnswer: after });
    const plan = reads ? before : "Planning";
    guarded = withRows({ ...guarded, states: [...guarded.states, after] }, after, {
      LlmFinalAnswer: edge?.to ?? "Done",
      UserInterjected: plan,
      AnswerInvalid: plan,
      AskedPerson: after,
      Blocked: "Error",
    });
    states[after] = { replay: "safe", handle: (state, context) => checkAnswer(guardrails, state, context) };
  }
  return { graph: guarded, states };
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

const withRows = (
  graph: ControlGraph,
  from: string,
  rows: Readonly<Record<string, string>>,
): ControlGraph => ({
  ...graph,
  rows: { ...graph.rows, [from]: { ...graph.rows[from], ...rows } },
});

/** Checks what the next request contains for the first time: messages, and the results of the newest turn. */
async function checkUnread(
  guardrails: readonly Guardrail[],
  state: AgentState,
  context: StateContext,
): Promise<LateDecision> {
  const items = unreadAt(state);
  const found = new Findings(state, context);
  for (const item of items) {
    for (const guardrail of guardrails) {
      if (found.isBlocked) break;
      const check = item.about.call === undefined ? guardrail.input : guardrail.result;
      await found.add(guardrail.name, item, check);
    }
  }
  const seen = items.map(({ text }) => text);
  const event = context.event === "CheckAgain" ? "Continue" : context.event;
  return found.decision((now) => {
    const isSame = unreadAt(now).every(({ text }, index) => text === seen[index]);
    return isSame ? event : "CheckAgain";
  });
}

async function checkAnswer(
  guardrails: readonly Guardrail[],
  state: AgentState,
  context: StateContext,
): Promise<LateDecision> {
  const found = new Findings(state, context);
  const item = answerIn(state);
  for (const { name, answer } of guardrails) if (!found.isBlocked) await found.add(name, item, answer);
  // A person has resumed the session.
  if (context.event === "AskedPerson") found.allow();
  return found.decision(({ reActContext: { queued } }) => {
    if (found.asks) return "AskedPerson";
    return queued.some(({ type }) => type === "message") ? "UserInterjected" : "LlmFinalAnswer";
  });
}

const verdicts = "Return { replace }, { block } or { ask }.";

/** What the checks of one state have said. */
class Findings {
  #replaced: Replacement[] = [];
  #notes: string[] = [];
  #asks: string | undefined;
  #blocks: string | undefined;
  #retries: string | undefined;
  /** The text of an item after its replacements. */
  readonly #texts = new Map<Item, string>();
  readonly #given: Omit<CheckContext, "files" | "call">;

  constructor(state: AgentState, { signal, idempotencyKey, attempt, now, callTool }: StateContext) {
    this.#given = { state, signal, idempotencyKey, attempt, now, callTool };
  }

  get isBlocked(): boolean {
    return this.#blocks !== undefined;
  }

  /** Whether a person is asked. What is blocked or answered again is not. */
  get asks(): boolean {
    return this.#asks !== undefined && this.#blocks === undefined && this.#retries === undefined;
  }

  allow(): void {
    this.#asks = undefined;
  }

  async add(name: string, item: Item, check: Check<AnswerVerdict> | undefined): Promise<void> {
    if (check === undefined) return;
    const verdict = await check(this.#texts.get(item) ?? item.text, { ...item.about, ...this.#given });
    // Callers without types may return null.
    if (verdict == null) return;
    const replace = (content: string): void => {
      this.#texts.set(item, content);
      this.#replaced.push(item.replacedBy(content));
    };
    if ("replace" in verdict) replace(verdict.replace);
    else if ("block" in verdict) {
      this.#blocks = `${name}: ${verdict.block}`;
      replace(`[${this.#blocks}]`);
    } else if ("ask" in verdict && item.isRefused) replace(`[${name}: ${verdict.ask}]`);
    else if ("ask" in verdict) this.#asks ??= `${name}: ${verdict.ask}`;
    else if ("retry" in verdict) this.#retries ??= `${name}: ${verdict.retry}`;
    else throw new TypeError(`The guardrail ${name} returned no verdict. ${verdicts}`);
    this.#notes.push(`${name}: ${Object.keys(verdict).join()}`);
  }

  /** The decision with which the state is left by an event, unless a verdict leads elsewhere. Nothing of it applies to a state that has changed. */
  decision(eventAt: (state: AgentState) => string): LateDecision {
    const said = {
      ...(this.#replaced.length === 0 ? {} : { replaced: this.#replaced }),
      ...(this.#notes.length === 0 ? {} : { trace: { text: this.#notes.join("; ") } }),
    };
    const at = (state: AgentState): StateDecision => {
      const event = eventAt(state);
      if (event === "CheckAgain") return event;
      if (this.#blocks !== undefined) return { event: "Blocked", note: this.#blocks, ...said };
      if (this.#retries !== undefined) return { event: "AnswerInvalid", note: this.#retries, ...said };
      return { event, ...said };
    };
    return this.asks ? { at, pause: this.#asks ?? "" } : { at };
  }
}

/** The messages since the newest turn, also those in the queue, and the results of that turn. */
function unreadAt(state: AgentState): readonly Item[] {
  const { loopStart, queued, loop } = state.reActContext;
  const transcript = transcriptOf(state);
  let turnAt = transcript.length - 1;
  while (turnAt >= 0 && transcript.at(turnAt)?.type !== "turn") turnAt -= 1;
  const turn = transcript.at(turnAt);
  const items: Item[] = [];
  if (turn?.type === "turn" && turn.withheld !== true)
    for (const id of callIdsOf(turn)) items.push(...resultItem(state, id, turn.loop < loop));
  for (let index = turnAt + 1; index < transcript.length; index += 1) {
    const entry = transcript.at(index);
    if (entry?.type === "message" && entry.withheld !== true)
      items.push(...messageItem(state, entry.messageId, index < loopStart));
  }
  for (const entry of queued)
    if (entry.type === "message") items.push(...messageItem(state, entry.messageId, false));
  return items;
}

function messageItem(state: AgentState, messageId: string, isRefused: boolean): readonly Item[] {
  const message = messageOf(state, messageId);
  if (message === undefined) return [];
  const { content: text, attachments: files = [] } = message;
  const replacedBy = (content: string): Replacement => ({ type: "message", messageId, content });
  return [{ text, about: { files }, isRefused, replacedBy }];
}

function resultItem(state: AgentState, toolCallId: string, isRefused: boolean): readonly Item[] {
  const record = recordOf(state, toolCallId);
  if (record === undefined || record.result === null) return [];
  const { name, parameters, result } = record;
  const text = result.isSuccess ? result.content : failureText(result);
  const files = result.isSuccess ? (result.files ?? []) : [];
  const replacedBy = (content: string): Replacement => ({ type: "result", toolCallId, content });
  return [{ text, about: { files, call: { id: toolCallId, name, parameters } }, isRefused, replacedBy }];
}

function answerIn(state: AgentState): Item {
  const transcript = transcriptOf(state);
  const turn = transcript.findLast(({ type }) => type === "turn");
  const parts = turn?.type === "turn" ? turn.parts : [];
  return {
    text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
    about: { files: parts.flatMap((part) => (part.type === "file" ? [part.file] : [])) },
    isRefused: false,
    replacedBy: (content) => ({ type: "answer", content }),
  };
}
