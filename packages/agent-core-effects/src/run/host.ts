import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import type { LlmCaller } from "@moora/llm";
import type { AskHumanEffect } from "../effect.ts";
import type { Tool } from "../tool/define-tool.ts";
import type { ToolOutcome } from "../tool/tool-reply.ts";

/** What a custom state's handler decides: the event that leaves the state, and a note for the model. */
export type StateDecision = string | { readonly event: string; readonly note?: string };

/** What the handler of a custom state may use. */
export interface StateContext {
  /** Aborted on cancel and when the host shuts down (`reason.name`: `AbortError`, `ShutdownError`). */
  readonly signal: AbortSignal;
  /** The same for every attempt to handle this entry into the state: pass it to a service to have the work done once. */
  readonly idempotencyKey: string;
  /** 1 at first; counted up by each crash after which the handler runs again. */
  readonly attempt: number;
  /** The event that led to the state. */
  readonly event: string;
  /** Milliseconds since 1970, by the clock of the session. */
  now(): number;
  /**
   * Runs one of the agent's tools without an approval, within the time-out of the tool. The idempotency key that the tool
   * gets is the same when the handler runs again and makes the same calls in the same order. A tool that must run `once` does not run in a later
   * attempt: its outcome is `outcome-unknown`. After an abort of `signal` no tool starts: the outcome is `cancelled`. The blacklist is
   * that of the current configuration. Never throws: an unknown or blacklisted name and an input that is not JSON are failed outcomes.
   */
  callTool(name: string, input: unknown): ToolOutcome | Promise<ToolOutcome>;
}

/**
 * Handles an entry into a custom state. What it throws is the event `HandlerFailed`, and so is a value that is not a
 * `StateDecision`, such as undefined.
 */
export type StateHandler = (
  state: AgentState,
  context: StateContext,
) => StateDecision | Promise<StateDecision>;

/** Whether a human has to approve this call: the named predicate of an approval policy. */
export type ApprovalPredicate = (call: {
  readonly name: string;
  readonly parameters: string;
}) => boolean | Promise<boolean>;

/** The code of an agent; its data lives in the state. */
export interface AgentParts {
  readonly llm: LlmCaller;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly states: Readonly<Record<string, StateHandler>>;
  readonly predicates: Readonly<Record<string, ApprovalPredicate>>;
  /** What is wrong with an answer, undefined when it fits. `schema` is the `config.answerSchema` in force. */
  readonly answerProblem?: (
    answer: string,
    schema: string | null,
  ) => string | undefined | Promise<string | undefined>;
}

/** A time source. Tests bring one that is moved by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once, `ms` from now. Returns a function that cancels it. A clock may ignore the options. */
  after(ms: number, callback: () => void, options?: TimerOptions): () => void;
}

/** How a timer of a clock behaves. */
export interface TimerOptions {
  /** Whether a process stays alive until the timer is due. Default: true. */
  readonly keepsAlive?: boolean;
}

/** Limits of the runner, not of the agent: they leave no trace in the log. */
export interface RunLimits {
  /** For tools without a time-out of their own: default 120,000. */
  readonly toolTimeoutMs: number;
  /** Characters of a result that the model sees: default 100,000. */
  readonly maxResultLength: number;
  readonly llmFirstChunkTimeoutMs?: number;
  readonly llmIdleTimeoutMs?: number;
}

/** The limits of a runner that sets none. */
export const defaultRunLimits: RunLimits = { toolTimeoutMs: 120_000, maxResultLength: 100_000 };

/** What viewers are shown while an effect runs; nothing of it is kept. `messageId` names the attempt of the model call. */
export type Progress =
  | { readonly type: "llm-text"; readonly messageId: string; readonly text: string; readonly offset: number }
  | { readonly type: "llm-reasoning"; readonly messageId: string; readonly text: string }
  | { readonly type: "llm-tool-call"; readonly messageId: string; readonly name: string }
  | { readonly type: "llm-warning"; readonly text: string }
  | { readonly type: "tool-progress"; readonly toolCallId: string; readonly text: string };

/** Where an effect runs: how it dispatches what happened, and what of the world it may use. */
export interface EffectHost {
  readonly parts: AgentParts;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly limits: RunLimits;
  /** Returns the current state, which may be newer than the one that the effect was given. Default: that one. */
  readonly current?: () => AgentState;
  /** Dispatches an input while the run is under way, out of its order; left out where inputs are taken one by one. */
  readonly dispatchNow?: (input: AgentInput) => void;
  /** Dispatches what becomes known of an effect after the state stopped wanting it. Default: as any other input. */
  readonly dispatchLate?: (input: AgentInput) => void;
  /** Whether the model has to answer at once. */
  readonly synchronous?: boolean;
  readonly signal: AbortSignal;
  readonly notify: (notice: Progress) => void;
  /** Binds a decision to what was shown. */
  readonly digestOf: (...parts: readonly string[]) => string;
  /**
   * Shows a question to the people of this host. Gives their decision where it is known here and now; otherwise the
   * question waits for one from outside.
   */
  readonly ask?: (
    effect: AskHumanEffect,
  ) => AgentInput | undefined | void | Promise<AgentInput | undefined | void>;
}
