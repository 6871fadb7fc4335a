import type { AskHumanEffect, Clock, Progress } from "@moora/agent-core-effects";
import type { AgentInput, AgentState, AgentStep } from "@moora/agent-core-state-machine";
import type { MaybePromise } from "@moora/event-log";
import type { CommitResult, Step } from "@moora/moorex";
import type { Agent } from "../define-agent.ts";
import type { Logger } from "../logger.ts";
import type { MachineErrorHooks } from "./machine-errors.ts";
import type { PendingInput } from "./pending-input.ts";
import type { SessionFiles } from "./session-files.ts";

/** An accepted input that is not stored yet, with its transition. */
export type PendingStep = Step<AgentStep, PendingInput>;

/** Stores accepted inputs before they become visible. */
export interface InputLedger {
  /** Makes steps durable and gives their inputs positions. Returns `before` if other inputs precede them; nothing is stored then. */
  commit(steps: readonly PendingStep[]): MaybePromise<CommitResult<PendingInput>>;
  /** Why an input cannot be stored; undefined if it can. */
  refusalOf(pending: PendingInput): Error | undefined;
}

/** The options from which a machine is created: its initial state, its rights, and where its inputs are stored. */
export interface MachineBase {
  readonly id: string;
  /** Names the session in idempotency keys and in the digests of questions. Default: its id. */
  readonly identity?: string;
  readonly initial: AgentState;
  /** The number of inputs that led to `initial`. */
  readonly seq: number;
  readonly clock: Clock;
  /** What the host gives to the tools and handlers of the agent. Default: nothing. */
  readonly context?: unknown;
  /** Where the bytes of files are stored. Default: in the inputs. */
  readonly files?: SessionFiles | undefined;
  /** Whether this host runs effects. If not, it only reads and posts. */
  readonly runsEffects: boolean;
  /** Whether this host may start the effects of a state now; running ones continue. Default: yes. */
  readonly startsEffects?: (state: AgentState) => boolean;
  readonly ledger?: InputLedger;
}

/** An input that has become part of the session, with its position in a log; undefined for a session in memory. */
type StoredInput = Pick<PendingInput, "input"> & Partial<Pick<PendingInput, "position">>;

export interface MachineHooks extends MachineErrorHooks {
  readonly logger: Logger;
  readonly notify: (notice: Progress) => void;
  /** Whether anything receives progress besides text. */
  readonly isObserved: () => boolean;
  readonly ask: (effect: AskHumanEffect) => Promise<AgentInput | undefined>;
  /**
   * Resolves when work may begin if nothing else holds it then; undefined if nothing holds it: no cancel or pause of this session is
   * being stored, and `heldAbove` is undefined. `isStarted`: for work that is recorded as started, which no pause holds.
   */
  readonly hold: (isStarted: boolean) => Promise<void> | undefined;
  /** The same for what holds the sessions above this one, of which its call is a part. */
  readonly heldAbove: (isStarted: boolean) => Promise<void> | undefined;
  /** Whether a person can resume the session. */
  readonly mayPause: () => boolean;
  /** Starts what the state wants and nothing holds anymore. */
  readonly reconcile: () => void;
  /** The session in the contexts of its tools. */
  readonly session: object;
  /** Called with each accepted input, its transition and its sequence number when its state has become the current one. */
  readonly published: (stored: StoredInput, step: AgentStep, seq: number) => void;
}

/** What a machine uses of its agent. */
export type MachineAgent = Pick<Agent<unknown>, "parts" | "runLimits" | "team">;
