import type { Clock } from "@moora/agent-core-effects";
import type { AgentInput } from "@moora/agent-core-state-machine";
import type { Agent } from "../define-agent.ts";
import type { ErrorListener } from "../error-reports.ts";
import { followLog, inputsAfter, type LoggedInput } from "./follow-log.ts";
import { checkedGraceMs, checkedListener, checkSeq } from "../session/session-arguments.ts";
import type { OnApproval } from "../session/host-approvals.ts";
import type { Session } from "../session/session.ts";
import { DurableHost } from "./durable-host.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { LogHandle } from "./log-handle.ts";
import type { RestoredSession } from "./restore.ts";
import type { SessionError } from "./session-error.ts";

/** What this host may do with a session: run its effects, post to its owner, or read along. */
export type Access = "run" | "post" | "read";

/** What a session says of itself. */
export interface SessionInfo {
  readonly id: string;
  readonly access: Access;
  /** The owner of the session, as far as its log shows. */
  readonly owner: string | null;
  /** The last record that this session has taken in. */
  readonly seq: number;
  /** When the right to run ends unless it is renewed; undefined without one. */
  readonly leaseUntil: number | undefined;
  /** What went wrong last with the log, or with the right to run. */
  readonly lastError: unknown;
  /** Whether there was a snapshot that is not used: of another release, or one that the log does not confirm. */
  readonly snapshotIgnored: boolean;
}

/** A session in a log. Its methods resolve when their inputs are durable, and reject with `SessionError` or `LogError`. */
export interface DurableSession<Answer = string> extends Session<Answer> {
  info(): SessionInfo;
  /** The accepted inputs after a sequence number, from the log. */
  history(afterSeq?: number): Promise<readonly LoggedInput[]>;
  /** Calls back with every input after a sequence number: first those of the log, then the new ones. */
  follow(afterSeq: number, listener: (seq: number, input: AgentInput) => void): Promise<() => void>;
  /** Takes in what others appended. Happens by itself; call it where nothing may be missed. */
  refresh(): Promise<void>;
  /**
   * Starts nothing new, lets running tools end for up to `graceMs` (default 0; `Infinity`: no limit), and gives the
   * session up; what was broken off is resumed by the next one who opens it. A second call does not wait any longer.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

export interface DurableOptions {
  readonly handle: LogHandle;
  readonly found: RestoredSession;
  readonly access: Access;
  readonly clock: Clock;
  readonly onApproval?: OnApproval;
  readonly onError?: ErrorListener;
  readonly newId?: (prefix: string) => string;
  readonly snapshots?: boolean;
}

/** The session, and the ends of it that only the one who opens it holds. */
export interface OpenedSession<Answer> {
  readonly session: DurableSession<Answer>;
  readonly loseOwnership: (error: SessionError) => void;
  /** The lease could not be renewed for now. */
  readonly failed: (error: unknown) => void;
  /** Begins to run: the first of these inputs says so. */
  becomeOwner(lease: LeaseKeeper, inputs: readonly AgentInput[]): Promise<void>;
}

export function durableSession<Answer>(agent: Agent<Answer>, options: DurableOptions): OpenedSession<Answer> {
  const host = new DurableHost(agent, options);
  return {
    session: durableMethods(host, options.handle),
    loseOwnership: (error) => host.lose(error),
    failed: (error) => host.reportLogError(error),
    becomeOwner: (lease, inputs) => host.becomeOwner(lease, inputs),
  };
}

/** The session as applications see it. */
function durableMethods<Answer>(host: DurableHost<Answer>, handle: LogHandle): DurableSession<Answer> {
  const close: DurableSession["close"] = async (options) => {
    await host.close(checkedGraceMs(options));
  };
  return {
    ...host.session,
    info: () => host.info(),
    async history(afterSeq = 0) {
      checkSeq("afterSeq", afterSeq);
      return await inputsAfter(handle, afterSeq);
    },
    async follow(afterSeq, listener) {
      checkSeq("afterSeq", afterSeq);
      checkedListener(listener);
      return await followLog(
        handle,
        {
          onInput: (onInput) => host.session.onInput((input, _state, seq) => onInput(input, seq)),
          onError: (error) => host.reportListenerError(error),
        },
        afterSeq,
        listener,
      );
    },
    refresh: () => host.refresh(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
