import type { Clock, Tool } from "@moora/agent-core-effects";
import type { AgentInput } from "@moora/agent-core-state-machine";
import type { AgentEvent, Question } from "../agent-event.ts";
import type { Agent } from "../define-agent.ts";
import type { ErrorListener } from "../error-reports.ts";
import type { LogListener } from "../logger.ts";
import type { QuestionAbout } from "../question-of.ts";
import { followLog, inputsAfter, type LoggedInput } from "./follow-log.ts";
import { checkedGraceMs, checkedListener, checkLimit, checkSeq } from "../session/session-arguments.ts";
import type { OnApproval } from "../session/host-approvals.ts";
import type { SessionFiles } from "../session/session-files.ts";
import type { Session } from "../session/session.ts";
import { DurableHost } from "./durable-host.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { LogHandle } from "./log-handle.ts";
import type { RestoredSession } from "./restore.ts";
import type { SessionError } from "./session-error.ts";
import type { SessionHeader } from "./session-header.ts";

/** What this process may do with a session: `run` its effects, `post` inputs to its owner, or `read` it. */
export type Access = "run" | "post" | "read";

/** The status of a session in a log, as `info()` returns it. */
export interface SessionInfo {
  readonly id: string;
  readonly access: Access;
  /** The owner that opened the session last, by the records of the log; null if there has been none. */
  readonly owner: string | null;
  /** The sequence number of the last record that this session has applied. */
  readonly seq: number;
  /** When the lease of this process ends unless it is renewed, in milliseconds since 1970; undefined without a lease. */
  readonly leaseUntil: number | undefined;
  /** The last error of the log or of the lease; undefined if there was none. */
  readonly lastError: unknown;
  /**
   * Whether opening ignored a snapshot that the log returned: one of another release, or one that its records do not confirm. False for
   * one that the log finds damaged in its storage: it returns none, and reports `damaged-snapshot` to the `onNotice` of the log.
   */
  readonly snapshotIgnored: boolean;
}

/** A session in a log. Its methods resolve when their inputs are durable, and reject with `SessionError` or `LogError`. */
export interface DurableSession<
  Answer = string,
  Data = unknown,
  Tools extends Tool = Tool,
  Asked extends Question = QuestionAbout<Tools>,
> extends Session<Answer, Data, Tools, Asked> {
  /** The header of the log of this session: its agent, and the configuration and tools that it began with. */
  readonly header: SessionHeader;
  info(): SessionInfo;
  /**
   * Reads the accepted inputs after a sequence number (default: 0, all inputs) from the log. With `limit`, a positive integer, only the first
   * `limit` of them, or more from a log that cannot read a part; fewer are all that there are.
   */
  history(afterSeq?: number, limit?: number): Promise<readonly LoggedInput[]>;
  /**
   * Calls the listener with every input after a sequence number, each once and in order: first those of the log, then the
   * new ones. Resolves with a function that unsubscribes.
   */
  follow(afterSeq: number, listener: (seq: number, input: AgentInput) => void): Promise<() => void>;
  /**
   * Applies the records that other processes have appended. A session does this when its log reports a change; call it to
   * be sure that `current()` contains every record of the log.
   */
  refresh(): Promise<void>;
}

export interface DurableOptions {
  readonly handle: LogHandle;
  readonly found: RestoredSession;
  readonly access: Access;
  /** The error of posts to a session that an engine runs, and that do not come from the engine. Default: none. */
  readonly postError?: SessionError | undefined;
  readonly clock: Clock;
  readonly context?: unknown;
  readonly files?: SessionFiles | undefined;
  readonly onApproval?: OnApproval;
  readonly onEvent?: (event: AgentEvent<unknown>) => void;
  readonly onError?: ErrorListener;
  readonly onLog?: LogListener;
  readonly newId?: (prefix: string) => string;
  readonly snapshots?: boolean;
  readonly isOwnerGone?: (owner: string) => boolean | Promise<boolean>;
}

/** A session with the methods that only the code that opens it calls. */
export interface OpenedSession<Answer> {
  readonly session: DurableSession<Answer>;
  readonly loseOwnership: (error: SessionError) => void;
  /** Reports that the lease could not be renewed; the next renewal is still due. */
  readonly failed: (error: unknown) => void;
  /** Starts running the session as its owner. The first input must be `session-opened`. */
  becomeOwner(lease: LeaseKeeper, inputs: readonly AgentInput[]): Promise<void>;
}

export function durableSession<Answer>(agent: Agent<Answer>, options: DurableOptions): OpenedSession<Answer> {
  const host = new DurableHost(agent, options);
  return {
    session: durableMethods(host, options),
    loseOwnership: (error) => host.lose(error),
    failed: (error) => host.reportLogError(error),
    becomeOwner: (lease, inputs) => host.becomeOwner(lease, inputs),
  };
}

/** The methods of a session in a log for applications. */
function durableMethods<Answer>(
  host: DurableHost<Answer>,
  { handle, found: { header } }: Pick<DurableOptions, "handle" | "found">,
): DurableSession<Answer> {
  const close: DurableSession["close"] = async (options) => {
    await host.close(checkedGraceMs(options));
  };
  return {
    ...host.session,
    header,
    info: () => host.info(),
    async history(afterSeq = 0, limit) {
      checkSeq("afterSeq", afterSeq);
      checkLimit(limit);
      return await inputsAfter(handle, afterSeq, limit);
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
