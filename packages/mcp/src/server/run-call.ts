import {
  InputRefused,
  openSession,
  SessionError,
  type Agent,
  type DurableSession,
  type LogListener,
} from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import { isJsonObject } from "@moora/llm/internal";
import { KeptSessions } from "./kept-sessions.ts";
import { cancelReason, failed, isOfSubAgent, runRound, type AgentCall, type CallEnd } from "./run-round.ts";
import { maySee, newSessionId } from "./session-access.ts";

export interface CallRunnerOptions {
  readonly log: EventLog;
  readonly onError: (error: unknown) => void;
  readonly onLog?: LogListener;
}

/** What calls share: the log, and the sessions that run in this process. */
export class CallRunner {
  readonly #log: EventLog;
  readonly #onError: (error: unknown) => void;
  readonly #onLog: LogListener | undefined;
  readonly #running = new Map<string, DurableSession<unknown> | undefined>();
  readonly #kept = new KeptSessions();
  /** By the ids of sessions that wait for answers in a call that can still be cancelled: ends the watch of its signal. */
  readonly #watched = new Map<string, () => void>();

  constructor({ log, onError, onLog }: CallRunnerOptions) {
    this.#log = log;
    this.#onError = onError;
    this.#onLog = onLog;
  }

  /** Runs one round of a call. Does not reject: a failure of the session is the end of the round. */
  async run(call: AgentCall): Promise<CallEnd> {
    try {
      return await this.#runChecked(call);
    } catch (error) {
      if (error instanceof SessionError || error instanceof InputRefused) return failed(error.message);
      this.#onError(error);
      return failed("The session cannot be read or written.");
    }
  }

  /** Closes the sessions that run. Their work resumes when they are opened again. */
  async close(): Promise<void> {
    await Promise.all([
      this.#kept.close(),
      ...[...this.#running.values()].map(async (session) => await session?.close()),
    ]);
  }

  async #runChecked(call: AgentCall): Promise<CallEnd> {
    const { session: wanted, task, user } = call;
    if (wanted === undefined && (task ?? "").trim() === "") return failed("A new session needs a task.");
    const isKnown =
      wanted === undefined || (maySee(user, wanted) && (await this.#log.open(wanted)) !== undefined);
    if (!isKnown) return failed(`Session ${JSON.stringify(wanted)} not found.`);
    const id = wanted ?? newSessionId(user);
    if (this.#running.has(id)) return failed(`Another call uses the session ${id}. Wait for its end.`);
    this.#unwatch(id);
    this.#running.set(id, undefined);
    const end = await this.#runInSession(id, call).finally(() => this.#running.delete(id));
    if (end.type === "asks" && !end.wasDismissed && call.outlivesRounds) this.#watch(id, call);
    return end;
  }

  async #runInSession(id: string, call: AgentCall): Promise<CallEnd> {
    const kept = this.#kept.take(id);
    const session = kept ?? (await this.#open(id, call.agent));
    this.#running.set(id, session);
    let isKept = false;
    try {
      const end = await runRound(session, call, kept === undefined);
      isKept = end.type === "asks" && end.questions.some(isOfSubAgent);
      if (isKept) this.#kept.keep(session);
      return end;
    } finally {
      if (!isKept) await session.close();
    }
  }

  /** Cancels the agent if the client cancels the call before its next round. */
  #watch(id: string, { agent, signal }: AgentCall): void {
    const cancel = (): void => {
      this.#watched.delete(id);
      if (!isDisconnected(signal)) void this.#cancel(id, agent);
    };
    if (signal.aborted) return cancel();
    signal.addEventListener("abort", cancel, { once: true });
    this.#watched.set(id, () => signal.removeEventListener("abort", cancel));
  }

  #unwatch(id: string): void {
    this.#watched.get(id)?.();
    this.#watched.delete(id);
  }

  async #cancel(id: string, agent: Agent<unknown>): Promise<void> {
    if (this.#running.has(id)) return;
    this.#running.set(id, undefined);
    try {
      await using session = this.#kept.take(id) ?? (await this.#open(id, agent));
      this.#running.set(id, session);
      await session.cancel(cancelReason);
      await session.settled();
    } catch (error) {
      this.#onError(error);
    } finally {
      this.#running.delete(id);
    }
  }

  async #open(id: string, agent: Agent<unknown>): Promise<DurableSession<unknown>> {
    const session = await openSession(agent, {
      log: this.#log,
      id,
      onError: (error) => this.#onError(error),
      ...(this.#onLog === undefined ? {} : { onLog: this.#onLog }),
    });
    // The results of calls show the questions, so the session need not report them as unseen.
    session.onEvent(() => undefined);
    return session;
  }
}

/** Whether a signal was aborted by the end of its connection: the questions stay open for another one. */
const isDisconnected = ({ reason }: AbortSignal): boolean =>
  isJsonObject(reason) && reason["code"] === "CONNECTION_CLOSED";
