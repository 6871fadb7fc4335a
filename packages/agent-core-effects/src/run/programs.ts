import type { AgentInput, AgentState, IntentInput } from "@moora/agent-core-state-machine";
import { recordOf } from "@moora/agent-core-state-machine/internal";
import type { AgentEffect } from "../effect.ts";
import { errorText } from "../error-text.ts";
import { isEffectWanted, isIntentRecorded } from "../open-effects.ts";
import { toolNamed } from "../tool/tool-named.ts";
import { isAborted } from "./abort.ts";
import { UnloggableInput } from "./assert-loggable.ts";
import { callLlm } from "./call-llm.ts";
import { callTool } from "./call-tool.ts";
import { NotSynchronous, dispatch, waitFor, type EffectProgram } from "./effect-program.ts";
import type { EffectHost } from "./host.ts";
import { probeTool } from "./probe-tool.ts";
import { runState } from "./run-state.ts";
import { waitUntil } from "./wait-until.ts";

/** The parts of a host that an intent uses. */
export type IntentHost = Pick<EffectHost, "parts" | "clock" | "dispatchLate">;

/** How an effect is done, and the inputs that say what became of it. */
interface Program<Effect extends AgentEffect> {
  /** Does the work and dispatches its results. */
  run(effect: Effect, state: AgentState, host: EffectHost): EffectProgram<void>;
  /** The input that records that the effect is about to start. Default: it needs none, since it changes nothing outside. */
  intent?(effect: Effect, state: AgentState, host: IntentHost): IntentInput | undefined;
  /** The input that records that an earlier run was interrupted. Every effect with an intent has one. */
  interruption?(effect: Effect, timestamp: number): AgentInput;
  /** The input for an effect whose program threw. Default: none; a question stays open, and a wait depends on the clock. */
  failure?(effect: Effect, error: unknown, timestamp: number): AgentInput;
}

/** One row for each type of effect. */
const programs: { readonly [Type in AgentEffect["type"]]: Program<Extract<AgentEffect, { type: Type }>> } = {
  "call-llm": {
    run: callLlm,
    intent: ({ key }, _, { clock }) => ({ type: "llm-call-started", key, timestamp: clock.now() }),
    interruption: ({ key }, timestamp) => ({ type: "llm-call-interrupted", key, timestamp }),
    failure({ key }, error, timestamp) {
      const unreadable = error instanceof UnloggableInput;
      const kind = unreadable ? "malformed" : "unknown";
      const failure = { kind, message: errorText(error), retryable: unreadable } as const;
      return { type: "llm-call-failed", key, failure, timestamp };
    },
  },
  "call-tool": {
    run: callTool,
    /** None for a call that only fails, of an unknown tool or with invalid arguments. */
    intent({ toolCallId, attempt, name }, state, { parts, clock, dispatchLate }) {
      const tool = toolNamed(parts.tools, name);
      if (tool === undefined || recordOf(state, toolCallId)?.problem !== undefined) return undefined;
      const reports = dispatchLate !== undefined && tool.definition.spends !== undefined;
      const reportsUsage = reports ? ({ reportsUsage: true } as const) : {};
      return { type: "tool-call-started", toolCallId, attempt, ...reportsUsage, timestamp: clock.now() };
    },
    interruption: callInterrupted,
    failure({ key, toolCallId }, error, timestamp) {
      const result = { isSuccess: false, error: errorText(error), code: "tool-error" } as const;
      const received = { ...result, receivedAt: timestamp };
      return { type: "tool-call-completed", toolCallId, key, result: received, timestamp };
    },
  },
  "probe-tool": {
    run: probeTool,
    failure: (effect, _, timestamp) => callInterrupted(effect, timestamp),
  },
  // Dispatches the decision if this host makes one; otherwise the question stays open for a decision from outside.
  "ask-human": {
    *run(effect, _, { ask }) {
      const decision = yield* waitFor(ask?.(effect));
      if (decision !== undefined) yield* dispatch(decision);
    },
  },
  "run-state": {
    run: runState,
    intent: ({ key }, _, { clock }) => ({ type: "state-handler-started", key, timestamp: clock.now() }),
    interruption: ({ key }, timestamp) => ({ type: "state-handler-interrupted", key, timestamp }),
    failure: ({ key }, error, timestamp) => ({
      type: "state-handled",
      key,
      event: "HandlerFailed",
      note: errorText(error),
      timestamp,
    }),
  },
  "wait-until": { run: waitUntil },
};

function callInterrupted(
  { toolCallId, attempt }: { readonly toolCallId: string; readonly attempt: number },
  timestamp: number,
): AgentInput {
  return { type: "tool-call-interrupted", toolCallId, attempt, outcome: "unknown", timestamp };
}

const programFor = ({ type }: AgentEffect): Program<AgentEffect> => programs[type];

/**
 * The intent of an effect: the input that records that the effect is about to start. Undefined for an effect that needs
 * none: it changes nothing outside, or it is a call that only fails, of an unknown tool or with invalid arguments.
 */
export const intentOf = (effect: AgentEffect, state: AgentState, host: IntentHost): IntentInput | undefined =>
  programFor(effect).intent?.(effect, state, host);

/**
 * The input that records that an earlier run of an effect was interrupted; undefined if the state does not contain the intent of
 * the effect, or no longer wants it. For a host that runs an effect again after a crash, where `session-opened` would interrupt
 * the work of other processes: dispatch it instead of running the effect. The replay policy decides what runs then, under a
 * new key.
 */
export const interruptionOf = (
  effect: AgentEffect,
  state: AgentState,
  timestamp: number,
): AgentInput | undefined =>
  isEffectWanted(state, effect) && isIntentRecorded(effect, state)
    ? programFor(effect).interruption?.(effect, timestamp)
    : undefined;

/** The input for an effect whose program threw, so that every effect ends with an answer. Undefined for a question and for a wait. */
export const failureInput = (
  effect: AgentEffect,
  error: unknown,
  timestamp: number,
): AgentInput | undefined => programFor(effect).failure?.(effect, error, timestamp);

/**
 * The program of an effect, for one of the drivers. It dispatches the intent of the effect, unless the host has committed it; does the work,
 * if the intent has applied; and dispatches the results. An exception of a model, a tool or a handler is dispatched as a failure, so that a
 * wanted effect always ends with an answer.
 */
export function* programOf(effect: AgentEffect, state: AgentState, host: EffectHost): EffectProgram<void> {
  try {
    const intent = host.intended === true ? undefined : intentOf(effect, state, host);
    if (intent !== undefined && !(yield* dispatch(intent))) return;
    if (isAborted(host)) return;
    yield* programFor(effect).run(effect, state, host);
  } catch (error) {
    if (error instanceof NotSynchronous) throw error;
    const failure = isAborted(host) ? undefined : failureInput(effect, error, host.clock.now());
    if (failure === undefined) throw error;
    yield* dispatch(failure);
  }
}
