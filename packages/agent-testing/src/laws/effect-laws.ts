import { effectsAt, llmRequestAt, type AgentEffect } from "@moora/agent-core-effects";
import { isEffectWanted } from "@moora/agent-core-effects/internal";
import {
  agentTransition,
  inputTraits,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import { openCallsOf, recordOf, stateKey } from "@moora/agent-core-state-machine/internal";
import { assertLaw } from "./law-broken.ts";

type Effects = Readonly<Record<string, AgentEffect>>;

/** The key of the effect that an input answers, found in the state before it; undefined if there is none. */
export function answeredKey(input: AgentInput, before: AgentState): string | undefined {
  return keyAnswered(input, effectsAt(before));
}

export function keyAnswered(input: AgentInput, wanted: Effects): string | undefined {
  const { role } = inputTraits[input.type];
  if (role !== "answer" && role !== "interruption") return undefined;
  if (input.type === "re-act-observed")
    return Object.values(wanted).find((effect) => effect.type === "call-llm")?.key;
  if (!("toolCallId" in input)) return "key" in input ? input.key : undefined;
  return Object.values(wanted).find(
    (effect) => "toolCallId" in effect && effect.toolCallId === input.toolCallId,
  )?.key;
}

/** L5: an answer retires its effect. */
export function checkAnswer(input: AgentInput, before: Effects, after: Effects): void {
  const key = keyAnswered(input, before);
  if (key === undefined) return;
  assertLaw(!Object.hasOwn(after, key), "L5", () => `${key} was answered and is still wanted`);
}

/** L5: what is looked up of one effect is what all effects of the state say. `before` are those of an earlier state. */
export function checkLookUp(before: Effects, state: AgentState, wanted: Effects): void {
  for (const effect of [...Object.values(before), ...Object.values(wanted)]) {
    assertLaw(
      isEffectWanted(state, effect) === Object.hasOwn(wanted, effect.key),
      "L5",
      () => `whether ${effect.key} is wanted depends on how it is looked up`,
    );
  }
}

/** L6: an answer that is dispatched again later changes nothing. */
export function checkLate(applied: readonly AgentInput[], state: AgentState): void {
  for (const input of applied) {
    if (!isAnswer(input) || isOfRunningHandler(input, state)) continue;
    assertLaw(agentTransition(input)(state) === state, "L6", () => `a late ${input.type} changes the state`);
  }
}

/** L6: the first result of a call, which arrives after the call was settled without it, changes nothing. */
export function checkFirstLate(toolCallIds: readonly string[], state: AgentState): void {
  for (const toolCallId of toolCallIds) {
    const result = { isSuccess: true, content: "late", receivedAt: state.updatedAt } as const;
    const input = { type: "tool-call-completed", toolCallId, result, timestamp: state.updatedAt } as const;
    assertLaw(
      agentTransition(input)(state) === state,
      "L6",
      () => `the first, late result of call ${toolCallId} changes the state`,
    );
  }
}

/** The calls that an input settled without a result of their tool: canceled, rejected, expired or abandoned. */
export const settledWithout = (input: AgentInput, before: AgentState, next: AgentState): readonly string[] =>
  openCallsOf(before.reActContext.control).flatMap(({ id }) => {
    const isAnswered = input.type === "tool-call-completed" && input.toolCallId === id;
    return !isAnswered && (recordOf(next, id)?.result ?? null) !== null ? [id] : [];
  });

/** Whether an input is a change of the data by the handler that runs, which may make the same change again. */
function isOfRunningHandler(input: AgentInput, { reActContext: context }: AgentState): boolean {
  const { control } = context;
  if (input.type !== "data-changed" || control.type !== "Custom" || !control.started) return false;
  return input.key === stateKey(context, control);
}

/** The inputs that name what they answer, or whose call can be answered only once. */
const isAnswer = (input: AgentInput): boolean =>
  ("key" in input && input.key !== undefined) ||
  inputTraits[input.type].about === "tool-call" ||
  input.type === "user-message-received";

/**
 * L4: equal keys mean equal effects and requests; a key that was wanted and no longer is never returns. Of a paused session it
 * follows the state that it has when it is resumed.
 */
export class KeyLedger {
  readonly #seen = new Map<string, string>();
  readonly #retired = new Set<string>();
  #wanted: Effects = {};
  #requestParts: readonly unknown[] = [];

  follow(state: AgentState, effects: Effects): void {
    for (const key in this.#wanted) if (!Object.hasOwn(effects, key)) this.#retired.add(key);
    const isSameRequest = this.#hasSameRequest(state);
    for (const [key, effect] of Object.entries(effects)) {
      assertLaw(key === effect.key, "L4", () => `the effect ${effect.key} has the key ${key}`);
      assertLaw(!this.#retired.has(key), "L4", () => `the retired key ${key} is wanted again`);
      const known = this.#seen.get(key);
      if (effect.type === "call-llm" && known !== undefined && isSameRequest) continue;
      const meaning = JSON.stringify([effect, effect.type === "call-llm" ? llmRequestAt(state) : null]);
      assertLaw(
        known === undefined || known === meaning,
        "L4",
        () => `the key ${key} belongs to two different effects`,
      );
      this.#seen.set(key, meaning);
    }
    this.#wanted = effects;
  }

  /** Whether nothing that a request depends on has changed, so that requests need not be compared. */
  #hasSameRequest(state: AgentState): boolean {
    const { config, tools, transcript, messages, toolCalls, reActContext: context } = state;
    const { windowStart, seen, step, stepLimit, control } = context;
    const since = "since" in control ? control.since : -1;
    const parts = [config, tools, transcript, messages, toolCalls, windowStart, seen, step, stepLimit, since];
    const isSame = parts.every((part, index) => part === this.#requestParts[index]);
    this.#requestParts = parts;
    return isSame;
  }
}
