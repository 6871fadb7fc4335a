import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import type { LlmCaller, LlmUsage } from "@moora/llm";
import type { AskHumanEffect } from "../effect.ts";
import type { Tool } from "../tool/define-tool.ts";

/** What a custom state's handler decides: the event that leaves the state, and a note for the model. */
export type StateDecision = string | { readonly event: string; readonly note?: string };

export type StateHandler = (
  state: AgentState,
  context: { readonly signal: AbortSignal },
) => StateDecision | Promise<StateDecision>;

/** Whether a human has to approve this call: the named predicate of an approval policy. */
export type ApprovalPredicate = (call: {
  readonly name: string;
  readonly parameters: string;
}) => boolean | Promise<boolean>;

/** The parts of an agent that are code. What is data stands in the state. */
export interface AgentParts {
  readonly llm: LlmCaller;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly states: Readonly<Record<string, StateHandler>>;
  readonly predicates: Readonly<Record<string, ApprovalPredicate>>;
  /** What is wrong with an answer, undefined when it fits. */
  readonly answerProblem?: (answer: string) => string | undefined | Promise<string | undefined>;
  /** What a call cost, by the host's price list: for the model that answered, and the name that it was asked by. */
  readonly costOf?: (model: string, usage: LlmUsage, askedModel: string) => number;
}

/** A time source. Tests bring one that is moved by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once, `ms` from now; answers how to call it off. */
  after(ms: number, callback: () => void): () => void;
}

/** Limits of the runner, not of the agent: they leave no trace in the log. */
export interface RunLimits {
  /** For tools that do not say: default 120,000. */
  readonly toolTimeoutMs: number;
  /** Characters of a result that the model sees: default 100,000. */
  readonly maxResultLength: number;
  readonly llmFirstChunkTimeoutMs?: number;
  readonly llmIdleTimeoutMs?: number;
}

export const defaultRunLimits: RunLimits = { toolTimeoutMs: 120_000, maxResultLength: 100_000 };

/** What viewers are told while an effect runs; nothing of it is kept. */
export type RunNotice =
  | { readonly type: "llm-text"; readonly messageId: string; readonly text: string; readonly offset: number }
  | { readonly type: "llm-reasoning"; readonly text: string }
  | { readonly type: "llm-tool-call"; readonly name: string }
  | { readonly type: "llm-warning"; readonly text: string }
  | { readonly type: "tool-progress"; readonly toolCallId: string; readonly text: string };

/** Where an effect runs: how it tells what happened, and what of the world it may use. */
export interface RunHost {
  readonly parts: AgentParts;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly limits: RunLimits;
  /** Tells an input while the run is under way, out of its order; left out where inputs are taken one by one. */
  readonly tellNow?: (input: AgentInput) => void;
  /** Whether the model has to answer at once. */
  readonly synchronous?: boolean;
  readonly signal: AbortSignal;
  readonly notify: (notice: RunNotice) => void;
  /** Binds a decision to what was shown. */
  readonly digestOf: (...parts: readonly string[]) => string;
  /** Puts a question before whoever answers for this host; without it questions wait. */
  readonly ask?: (effect: AskHumanEffect) => void | Promise<void>;
}
