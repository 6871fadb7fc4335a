import { effectsAt, llmRequestAt, type AgentEffect } from "@moora/agent-core-effects";
import { agentTransition, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import type { LlmRequest } from "@moora/llm";
import { assertLaw } from "./law-broken.ts";

type Effects = Readonly<Record<string, AgentEffect>>;

/** The key of the effect that an input answers, as far as it can be told from the state before. */
export function answeredKey(input: AgentInput, before: AgentState): string | undefined {
  return keyAnswered(input, effectsAt(before));
}

export function keyAnswered(input: AgentInput, wanted: Effects): string | undefined {
  if (input.type === "re-act-observed")
    return Object.values(wanted).find((effect) => effect.type === "call-llm")?.key;
  if (answersByKey.has(input.type)) return "key" in input ? input.key : undefined;
  if (!answersByCall.has(input.type) || !("toolCallId" in input)) return undefined;
  return Object.values(wanted).find(
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

/** L5: an answer retires its effect. */
export function checkAnswer(input: AgentInput, before: Effects, after: Effects): void {
  const key = keyAnswered(input, before);
  if (key === undefined) return;
  assertLaw(!Object.hasOwn(after, key), "L5", () => `${key} was answered and is still wanted`);
}

/** L6: what was answered once, offered again later, changes nothing. */
export function checkLate(applied: readonly AgentInput[], state: AgentState): void {
  for (const input of applied) {
    if (!isAnswer(input)) continue;
    assertLaw(agentTransition(input)(state) === state, "L6", () => `a late ${input.type} changes the state`);
  }
}

/** Inputs that name what they answer, or whose call can be answered once only. */
const isAnswer = (input: AgentInput): boolean =>
  ("key" in input && input.key !== undefined) ||
  answersByCall.has(input.type) ||
  input.type === "tool-call-started" ||
  input.type === "user-message-received";

/** L4: equal keys mean equal effects and requests; a key that was wanted and no longer is never returns. */
export class KeyLedger {
  private readonly seen = new Map<string, string>();
  private readonly retired = new Set<string>();
  private wanted: Effects = {};

  follow(state: AgentState, effects: Effects): void {
    for (const key in this.wanted) if (!Object.hasOwn(effects, key)) this.retired.add(key);
    for (const [key, effect] of Object.entries(effects)) {
      assertLaw(key === effect.key, "L4", () => `${effect.key} stands under ${key}`);
      assertLaw(!this.retired.has(key), "L4", () => `the retired key ${key} is wanted again`);
      const told = JSON.stringify([effect, requestOf(effect, state)]);
      const known = this.seen.get(key);
      assertLaw(known === undefined || known === told, "L4", () => `${key} means two things`);
      this.seen.set(key, told);
    }
    this.wanted = effects;
  }
}

const requestOf = (effect: AgentEffect, state: AgentState): LlmRequest | undefined =>
  effect.type === "call-llm" ? llmRequestAt(state) : undefined;
