import type { Guardrail, LateDecision, StateContext } from "@moora/agent-core-effects";
import { optionForms, refuse, required, type OptionForms } from "@moora/agent-core-effects/internal";
import { controlEdges, type AgentState, type ControlGraph } from "@moora/agent-core-state-machine";
import { newestTurnAt } from "@moora/agent-core-state-machine/internal";
import { checkOptions } from "../check-options.ts";
import type { StateDefinition } from "../custom-states.ts";
import { Findings } from "./findings.ts";
import { answerIn, unreadAt } from "./items.ts";

/** The states that check what a request contains for the first time, and the states in which requests are made. */
const guards = { Guarding: "Planning", GuardingSummary: "Reflecting" } as const;
/** The state that checks an answer before the loop ends with it, or continues after it. */
export const answerGuard = "GuardingAnswer";

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
  if (taken !== undefined) refuse(`The state name "${taken}" is reserved for guardrails. Rename your state.`);
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
