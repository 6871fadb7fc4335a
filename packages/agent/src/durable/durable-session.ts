import type { Clock } from "@moora/agent-core-effects";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import type { SessionLog } from "@moora/event-log";
import type { Agent } from "../define-agent.ts";
import { AgentError } from "../agent-error.ts";
import type { OnApproval } from "../session/asking.ts";
import { hostSession } from "../session/create-session.ts";
import type { Session } from "../session/session.ts";
import { randomId } from "../user-message.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { logHead } from "./log-head.ts";
import { snapshotVersion, type Restored } from "./restored.ts";
import { SessionError } from "./session-error.ts";
import { recordToInput } from "./session-record.ts";

/** What a session says of itself. */
export interface SessionInfo {
  readonly id: string;
  readonly access: "run" | "post" | "read";
  /** Who runs the session, as far as its log tells. */
  readonly owner: string | null;
  /** The last record that this session has taken in. */
  readonly seq: number;
  /** When the right to run ends unless it is renewed; undefined without one. */
  readonly leaseUntil: number | undefined;
  /** What went wrong last with the log, or with the right to run. */
  readonly lastError: unknown;
  /** Whether there was a snapshot that could not be used. */
  readonly snapshotIgnored: boolean;
}

export interface DurableSession<Answer = string> extends Session<Answer> {
  info(): SessionInfo;
  /** The accepted inputs after a sequence number, from the log. */
  history(afterSeq?: number): Promise<readonly { readonly seq: number; readonly input: AgentInput }[]>;
  /** Calls back with every input after a sequence number: first those of the log, then the new ones. */
  follow(afterSeq: number, listener: (seq: number, input: AgentInput) => void): Promise<() => void>;
  /** Takes in what others appended. Happens by itself; call it where nothing may be missed. */
  refresh(): Promise<void>;
  /**
   * Starts nothing new, lets running tools end for up to `graceMs` (default 0), and gives the session up; what was broken
   * off is resumed by the next one who opens it.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

export interface DurableOptions {
  readonly log: SessionLog;
  readonly found: Restored;
  readonly access: "run" | "post" | "read";
  readonly owner: string;
  readonly clock: Clock;
  readonly onApproval?: OnApproval;
  readonly newId?: (prefix: string) => string;
  readonly snapshots?: boolean;
}

/** The session, and the ends of it that only the one who opens it holds. */
export interface OpenedSession<Answer> {
  readonly session: DurableSession<Answer>;
  holdLease(keeper: LeaseKeeper): void;
  readonly lose: (error: SessionError) => void;
  takeOver(inputs: readonly AgentInput[]): Promise<void>;
}

/** What anyone may append at the head; everything else tells of effects, and is the owner's. */
const posts: ReadonlySet<string> = new Set([
  "user-message-received",
  "tool-call-decided",
  "re-act-cancelled",
  "context-window-expanded",
  "history-tool-calls-added",
  "context-note-added",
]);

export function durableSession<Answer>(agent: Agent<Answer>, options: DurableOptions): OpenedSession<Answer> {
  const { log, found, access, owner, clock } = options;
  const head = logHead({ log, start: found.head, owner: access === "run" ? owner : undefined });
  let lease: LeaseKeeper | undefined;
  let lastError: unknown = found.unreadable;
  let lost: SessionError | undefined;
  let opened = access !== "run";
  let draining = false;
  let closed = false;
  let snapshotSeq = found.head.seq;

  const hosted = hostSession(agent, {
    id: log.id,
    initial: found.state,
    seq: found.head.seq,
    clock,
    newId: options.newId ?? randomId,
    runsEffects: access === "run",
    // Nothing of the state that was found is done before its broken-off work was dealt with, and nothing new on the way out.
    startsEffects: () => opened && !draining,
    onApproval: options.onApproval,
    ignores: head.knows,
    commit: (steps) => head.commit(steps),
    refuses: (input) => refusal(input),
    onCommitFailed: (error) => {
      lastError = error;
      if (error instanceof SessionError && error.code === "StaleWriter") lose(error);
    },
  });

  const refusal = (input: AgentInput): Error | undefined => {
    if (lost !== undefined) return lost;
    if (access === "read")
      return found.unreadable ?? new SessionError("ReadOnly", "This session was opened to be read only.");
    if (access === "post" && !posts.has(input.type))
      return new SessionError("NotOwner", `A ${input.type} is for the owner of the session to tell.`);
    return undefined;
  };

  const lose = (error: SessionError): void => {
    if (lost !== undefined) return;
    lost = error;
    lastError = error;
    hosted.stop(new AgentError("Conflict", error.message, { reason: error.code, cause: error }));
  };

  const pull = async (): Promise<void> => {
    if (lost !== undefined || closed) return;
    try {
      const inputs = await head.pull();
      if (inputs.length > 0) await hosted.dispatch(...inputs);
    } catch (error) {
      lastError = error;
      if (error instanceof SessionError) lose(error);
    }
  };

  let pulling: Promise<void> = Promise.resolve();
  const refresh = (): Promise<void> => (pulling = pulling.then(pull));
  const stopWatching = log.watch(() => void refresh());

  const saveSnapshot = async (state: AgentState): Promise<void> => {
    if (options.snapshots === false || access !== "run") return;
    const { seq, digest } = head.at;
    if (seq === snapshotSeq) return;
    await log.saveSnapshot({ seq, digest, version: snapshotVersion, body: JSON.stringify(state) });
    snapshotSeq = seq;
  };

  const session: DurableSession<Answer> = {
    ...hosted.session,
    info: () => ({
      id: log.id,
      access: lost === undefined ? access : "read",
      owner: hosted.state().owner,
      seq: head.at.seq,
      leaseUntil: lease?.until,
      lastError,
      snapshotIgnored: found.snapshotIgnored ?? false,
    }),
    async history(afterSeq = 0) {
      return (await log.read(afterSeq)).map((record) => ({ seq: record.seq, input: recordToInput(record) }));
    },
    async follow(afterSeq, listener) {
      let told = afterSeq;
      const tell = (seq: number, input: AgentInput): void => {
        if (seq !== told + 1) return;
        told = seq;
        listener(seq, input);
      };
      const waiting: (readonly [number, AgentInput])[] = [];
      let live = false;
      const stop = hosted.session.onInput((input, _state, seq) => {
        if (live) tell(seq, input);
        else waiting.push([seq, input]);
      });
      for (const { seq, input } of await session.history(afterSeq)) tell(seq, input);
      live = true;
      for (const [seq, input] of waiting) tell(seq, input);
      return stop;
    },
    refresh,
    async close({ graceMs = 0 } = {}) {
      if (closed) return;
      draining = true;
      if (graceMs > 0 && access === "run") await hosted.drained(graceMs);
      closed = true;
      stopWatching();
      await hosted.session.close();
      await pulling;
      if (lost === undefined) await saveSnapshot(hosted.state());
      await lease?.stop();
    },
    [Symbol.asyncDispose]: () => session.close(),
  };

  return {
    session,
    holdLease(keeper) {
      lease = keeper;
    },
    lose,
    async takeOver(inputs) {
      opened = true;
      await hosted.dispatch(...inputs);
    },
  };
}
