import type { AgentInput, AgentState, Replacement, TraceNote } from "@moora/agent-core-state-machine";
import type { Progress } from "@moora/agent-webui-protocol";
import type { LlmCaller } from "@moora/llm";
import type { AnyData } from "../data/define-data.ts";
import type { DataContext } from "../data/data-updates.ts";
import type { AskHumanEffect } from "../effect.ts";
import type { LlmRequestCache } from "../request/messages.ts";
import type { ContextDefinition, HostContext } from "../tool/define-context.ts";
import type { Tool } from "../tool/define-tool.ts";
import type { ToolOutcome } from "../tool/tool-reply.ts";
import type { DispatchedInput } from "./dispatched-input.ts";
import type { HostFiles } from "./host-files.ts";

/**
 * The decision of a custom state's handler: the event that leaves the state, a note for the model, and one for the trace, which
 * the model does not see.
 */
export type StateDecision =
  | string
  | {
      readonly event: string;
      readonly note?: string;
      readonly trace?: TraceNote;
      /** Why, for people: it stands in the failure of a loop that this ends. Default: the note. */
      readonly reason?: string;
      /** What the model and people read from now on in place of a message, a result, or the texts of the newest turn. */
      readonly replaced?: readonly Replacement[];
      /** The session pauses with this reason, and what follows waits until a person resumes it. */
      readonly pause?: string;
    };

/** A decision that is made for the state at its turn, when nothing can come between the two. */
export interface LateDecision {
  readonly at: (state: AgentState) => StateDecision;
  /** Whether the decision may have `pause`. Default: no, and then it must not. */
  readonly mayPause?: boolean;
}

/** What a handler may return. */
export type HandlerDecision = StateDecision | LateDecision;

/** The context of the handler of a custom state. `Data` is the type of the application data. */
export interface StateContext<Data = unknown> extends DataContext<Data> {
  /** Aborted on cancel and when the host shuts down (`reason.name`: `AbortError`, `ShutdownError`). */
  readonly signal: AbortSignal;
  /** The same for every attempt to handle this entry into the state. Pass it to a service, so that the work is done once. */
  readonly idempotencyKey: string;
  /** The number of this attempt, from 1. Incremented by each crash after which the handler runs again. */
  readonly attempt: number;
  /** The event that led to the state. */
  readonly event: string;
  /** Milliseconds since 1970, by the clock of the session. */
  now(): number;
  /**
   * Runs one of the agent's tools without an approval, within the timeout of the tool. Its idempotency key is the same when
   * the handler runs again and makes the same calls in the same order. A tool with the replay policy `once` does not run in
   * a later attempt: its outcome is `outcome-unknown`. After an abort of `signal` no tool starts: the outcome is `cancelled`.
   * While the session is paused no tool starts either: the call waits until it is resumed.
   * The blacklist of the current configuration applies. Does not throw: an unknown or blacklisted name and an input that is
   * not JSON result in failed outcomes.
   */
  callTool(name: string, input: unknown): ToolOutcome | Promise<ToolOutcome>;
}

/** The context of a handler: with what the host gives to the session if the agent needs that. */
export type StateContextOf<Data, Context> = unknown extends Context
  ? StateContext<Data>
  : StateContext<Data> & HostContext<Context>;

/** Handles an entry into a custom state. An exception results in the event `HandlerFailed`. */
export type StateHandler<Data = unknown> = (
  state: AgentState,
  context: StateContext<Data>,
) => HandlerDecision | Promise<HandlerDecision>;

/** A predicate of an approval policy. Returns whether a human must approve this call. */
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
  /** What the handlers need of the host of a session. Default: nothing. */
  readonly context?: ContextDefinition;
  /** The application data of the agent. Default: none. */
  readonly data?: AnyData;
  /** Returns why an answer is invalid; undefined if it is valid. `schema` is the current `config.answerSchema`. */
  readonly answerProblem?: (
    answer: string,
    schema: string | null,
  ) => string | undefined | Promise<string | undefined>;
  /** Computes the first time of a cron expression after a time; undefined if there is none. Throws `RangeError` for an invalid one. Default: schedules have no cron. */
  readonly nextCron?: (
    cron: string,
    timeZone: string,
    after: number,
  ) => number | undefined | Promise<number | undefined>;
}

/** A source of time. Tests can pass one that is moved by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once, after `ms` milliseconds. Returns a function that cancels the timer. A clock may ignore the options. */
  after(ms: number, callback: () => void, options?: TimerOptions): () => void;
}

/** The options of a timer. */
export interface TimerOptions {
  /** Whether the timer keeps the process alive. Default: true. */
  readonly keepsAlive?: boolean;
}

/** The limits of the runner. They are not part of the agent's configuration, and logs do not contain them. */
export interface RunLimits {
  /** The timeout of tools that have none of their own, in milliseconds. Default: 120,000. */
  readonly toolTimeoutMs: number;
  /** The maximum length of a result, in characters. Default: 100,000. */
  readonly maxResultLength: number;
  readonly llmFirstChunkTimeoutMs?: number;
  readonly llmIdleTimeoutMs?: number;
}

/** The default limits of a runner. */
export const defaultRunLimits: RunLimits = { toolTimeoutMs: 120_000, maxResultLength: 100_000 };

/**
 * Shows a question to the reviewers of a host. Returns the input of their decision if the host makes one; otherwise the question
 * stays open for a decision from outside.
 */
export type AskReviewer = (
  effect: AskHumanEffect,
) => AgentInput | undefined | void | Promise<AgentInput | undefined | void>;

/** The host of an effect: the code, clock, limits and callbacks that the effect uses. */
export interface EffectHost {
  readonly parts: AgentParts;
  readonly sessionId: string;
  /** The session that runs the effect, as an object that only the host knows. A tool that runs a session of its own finds it. */
  readonly session?: object;
  /** What the host gives to the tools and handlers of the session. Default: nothing. */
  readonly context?: unknown;
  /** Whether a person can resume the session if a handler pauses it. Default: yes. */
  readonly mayPause?: () => boolean;
  readonly clock: Clock;
  readonly limits: RunLimits;
  /** What the last request of this session was computed from: the next one extends it. Default: a cache of all sessions. */
  readonly requests?: LlmRequestCache;
  /** Returns the current state, which may be newer than the one that the effect was given. Default: that one. */
  readonly current?: () => AgentState;
  /** Whether the session is paused now. Default: `untilResumed` finds out. */
  readonly isPaused?: () => boolean;
  /** Resolves when the session is not paused: the tools that a handler calls wait for it. Default: the session is never paused. */
  readonly untilResumed?: () => Promise<void>;
  /**
   * Whether the intents of effects have been committed already. If so, the program of an effect acts without dispatching its
   * intent. Default: false; the program dispatches its intent first, and acts only if the intent applied.
   */
  readonly intended?: boolean;
  /** Dispatches an input at once, outside the order of the program. Undefined if inputs are requested one by one. */
  readonly dispatchNow?: (input: AgentInput) => void;
  /**
   * Dispatches a late-bound input at once, outside the order of the program, and resolves with whether it applied. Undefined if
   * inputs are requested one by one, or effects must not wait: then tools cannot commit updates of data before their result.
   */
  readonly dispatchAtOnce?: (input: DispatchedInput) => Promise<boolean>;
  /** Dispatches an input of an effect that the state no longer wants. Default: like any other input. */
  readonly dispatchLate?: (input: AgentInput) => void;
  /** Where the bytes of files are stored. Default: files stay in the inputs as they are, and requests contain them so. */
  readonly files?: HostFiles | undefined;
  /** Whether effects must not wait, so that models are called with `callSync`. Default: false. */
  readonly synchronous?: boolean;
  readonly signal: AbortSignal;
  /** Whether the work has been aborted. Default: `signal.aborted`. Give it where `signal` is created when it is read. */
  readonly isAborted?: () => boolean;
  /** Calls back once, on the abort. Returns a function that unsubscribes. Default: listens to `signal`. */
  readonly onAbort?: (callback: () => void) => () => void;
  readonly notify: (notice: Progress) => void;
  /** Whether anything receives progress besides text now. If not, less of it is made. Default: true. */
  readonly isObserved?: () => boolean;
  /**
   * Called when a tool returns, or a model streams, after its call was aborted: its output is dropped. Of the chunks of one call
   * only the first is reported. Default: nothing.
   */
  readonly onLateOutput?: ((key: string, what: "result" | "chunk") => void) | undefined;
  /** Computes the digest that binds a decision to its question. */
  readonly digestOf: (...parts: readonly string[]) => string;
  /** Shows a question to the reviewers. Default: nothing; the question stays open. */
  readonly ask?: AskReviewer;
}
