import type { AgentInput, AgentState } from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import type { HostWorld } from "./world.ts";

/** What a case may need of a host, besides sessions that run. */
export type HostAbility =
  /** The records of a session can be read and verified. */
  | "records"
  /** A process can be killed, and another one continues its sessions. */
  | "kill"
  /** A process can be made to end at a given record, right before or right after it becomes durable. */
  | "death-at-commit"
  /** Another process can take sessions over while the one that runs them still works. */
  | "take-over"
  /** A later release of the agent can continue the sessions of an earlier one. */
  | "release"
  /** Inputs can be posted from a process that does not run the session. */
  | "second-poster"
  /** The text that the model streams can be watched. */
  | "stream"
  /** A session can be removed, and created again under its id. */
  | "remove"
  /** The clock can be moved. */
  | "clock";

/** A host of agents under test. */
export interface ConformanceHost {
  readonly name: string;
  /** What the host cannot do, each with the reason, which its documentation repeats. The cases that need it are left out. */
  readonly cannot: Readonly<Partial<Record<HostAbility, string>>>;
  /** Prepares what sessions are kept in, for one case. No process runs yet. */
  prepare(setup: HostSetup): Promise<PreparedHost>;
}

/** What a case gives to its host: the world for `conformanceAgent`, in whatever process that runs. */
export interface HostSetup {
  readonly world: HostWorld;
}

/** The end of a process at the record `seq` of any session, counted from 1. */
export interface CommitDeath {
  readonly seq: number;
  readonly when: "before" | "after";
}

/** The process that `start` starts. */
export interface ProcessOptions {
  /** The release of the agent. Default: 1. */
  readonly release?: number;
  /** Where the process ends by itself. Only with the ability `death-at-commit`. */
  readonly death?: CommitDeath;
  /** Called when it has ended so. */
  readonly onDeath?: () => void;
}

/**
 * A host that is ready for one case. Its methods may wait; no case has a time limit of its own. Methods for abilities that
 * the host does not have are not called, and can be left out.
 */
export interface PreparedHost {
  /** Starts a process that runs the agent, and continues all sessions. */
  start(options?: ProcessOptions): Promise<void>;
  /** Ends that process as a crash does: it finishes nothing, and nothing of it has an effect after that. */
  kill?(): Promise<void>;
  /** Starts a process that takes all sessions over. The one before is not stopped, and its results must not count. */
  takeOver?(): Promise<void>;
  /**
   * Posts an input to a session, which is created if there is none of this id. Resolves with whether the input applied, when it
   * is durable. Rejects for an input that no caller may post, or resolves with false. `elsewhere`: from a process that does not run
   * the session.
   */
  post(id: string, input: AgentInput, from?: "elsewhere"): Promise<boolean>;
  /** Resolves with the state of a session as soon as it is as `isReached` says. */
  waitFor(id: string, isReached: (state: AgentState) => boolean): Promise<AgentState>;
  /** Removes a session. A later post creates another one of its id, also in a process that knew the removed one. */
  remove?(id: string): Promise<void>;
  /** Calls the listener with the pieces of text that the model streams in a session from now on. */
  watch?(id: string, listener: (text: string) => void): Promise<() => void>;
  /** A log with the records of a session: the log of the host, or one that they were copied to. */
  log?(id: string): Promise<EventLog>;
  /** The clock of the sessions, which can be moved. */
  readonly clock?: HostClock;
  /** Ends everything and deletes what sessions are kept in. */
  dispose(): Promise<void>;
}

/** A clock that can be moved. */
export interface HostClock {
  now(): number;
  /** Lets this time pass, and fires what becomes due. */
  pass(ms: number): Promise<void>;
}
