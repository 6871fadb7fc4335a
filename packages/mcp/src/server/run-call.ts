import { InputRefused, SessionError } from "@moora/agent";
import type { CallSession } from "@moora/agent/internal";
import { isJsonObject } from "@moora/llm/internal";
import { KeptSessions } from "./kept-sessions.ts";
import {
  cancelReason,
  failed,
  isOfSubAgent,
  runRound,
  type AgentCall,
  type CallEnd,
  type Connection,
} from "./run-round.ts";

/** The parts of a call that cancel it between its rounds. */
type WatchedCall = Pick<AgentCall, "agent" | "sessions" | "connection" | "signal">;

/** A session that runs, from before it is opened. */
interface RunningSession {
  readonly connection: Connection | undefined;
  /** Resolves when it no longer runs. */
  readonly ended: Promise<void>;
  session?: CallSession;
}

/** What a client reads about a session that this process cannot run now. The message of the error is for the operator. */
function textOfUnusable(error: unknown, id: string): string | undefined {
  if (!(error instanceof SessionError)) return undefined;
  if (error.code === "MoveUnfinished")
    return `The session ${id} is closed: a move, a fork or an import of it has not ended. Start another session, or ask the operator.`;
  if (error.code === "SessionIncomplete")
    return `The session ${id} was never completed: its fork or import was interrupted.`;
  if (error.code !== "SessionBusy" && error.code !== "StaleWriter") return undefined;
  if (error.code === "SessionBusy" && error.until === undefined)
    return `The session ${id} is run by ${error.owner} and cannot be used here.`;
  return `Another process uses the session ${id}. Call this tool again later with this session.`;
}

/** Runs calls. What they share: the sessions that run in this process. */
export class CallRunner {
  readonly #onError: (error: unknown) => void;
  readonly #running = new Map<string, RunningSession>();
  readonly #kept = new KeptSessions();
  /** By the ids of sessions for which a call asks a person: ends the watch of its signal. */
  readonly #watched = new Map<string, () => void>();
  #isClosed = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
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

  /** Closes the sessions of the calls of a connection that has ended. Their work resumes when they are opened again. */
  async closeOf(connection: Connection): Promise<void> {
    const running = [...this.#running.values()].filter((session) => session.connection === connection);
    await Promise.all(running.map(({ ended }) => ended));
    await this.#kept.close(connection);
  }

  /** Ends the connections, closes the sessions that run, and refuses further calls. The work of the sessions resumes when they are opened again. */
  async close(endConnections: () => Promise<void>): Promise<void> {
    this.#isClosed = true;
    await endConnections();
    const running = [...this.#running.values()].map(async ({ session, ended }) => {
      await session?.close();
      // A session that is still being opened is closed by its call.
      await ended;
    });
    await Promise.all([this.#kept.close(), ...running]);
  }

  async #runChecked(call: AgentCall): Promise<CallEnd> {
    const { sessions, task } = call;
    // Models fill a field that they may leave out with an empty text.
    const wanted = call.session === "" ? undefined : call.session;
    if (wanted === undefined && (task ?? "").trim() === "") return failed("A new session needs a task.");
    const refusal = wanted === undefined ? undefined : await sessions.refusal("continue", wanted);
    if (refusal !== undefined) return failed(refusal);
    const id = wanted ?? sessions.newId();
    if (this.#isClosed) return failed("The server is closed.");
    if (this.#running.has(id)) return failed(`Another call uses the session ${id}. Wait for its end.`);
    this.#watched.get(id)?.();
    try {
      return await this.#inSession(id, call, async (session, isReopened) => {
        if (this.#isClosed) return failed("The server is closed.");
        const isInterrupted = (): boolean => this.#isInterrupted(call);
        const end = await runRound(session, call, { isReopened, isInterrupted });
        const isKept = end.type === "asks" && end.questions.some(isOfSubAgent) && !isInterrupted();
        if (isKept) this.#kept.keep(session, call.connection);
        return end;
      });
    } catch (error) {
      const text = textOfUnusable(error, id);
      if (text === undefined) throw error;
      this.#onError(error);
      return failed(text);
    }
  }

  /** Uses a session, which counts as one that runs meanwhile, and closes it unless it is kept then. */
  async #inSession<Result>(
    id: string,
    { agent, connection, sessions }: WatchedCall,
    use: (session: CallSession, isReopened: boolean) => Promise<Result>,
  ): Promise<Result> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const running: RunningSession = { connection, ended };
    this.#running.set(id, running);
    try {
      const kept = this.#kept.take(id);
      const session = kept ?? (await sessions.open(id, agent));
      running.session = session;
      try {
        return await use(session, kept === undefined);
      } finally {
        if (!this.#kept.has(id)) await session.close();
      }
    } finally {
      this.#running.delete(id);
      end();
    }
  }

  /** Runs something between two rounds of a call. Cancels the agent if the client cancels the call meanwhile. */
  async whileWatched<Result>(id: string, call: WatchedCall, run: () => Promise<Result>): Promise<Result> {
    const unwatch = this.#watch(id, call);
    try {
      return await run();
    } finally {
      unwatch();
    }
  }

  /** Cancels the agent if the client cancels the call, until another call runs the session. */
  #watch(id: string, call: WatchedCall): () => void {
    const { signal } = call;
    const cancel = (): void => {
      unwatch();
      if (!this.#isInterrupted(call)) void this.#cancel(id, call);
    };
    const unwatch = (): void => {
      signal.removeEventListener("abort", cancel);
      if (this.#watched.get(id) === unwatch) this.#watched.delete(id);
    };
    this.#watched.get(id)?.();
    this.#watched.set(id, unwatch);
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    return unwatch;
  }

  /** Whether an abort ends the connection or the server: the session resumes when it is opened again. */
  #isInterrupted({ connection, signal }: WatchedCall): boolean {
    const { reason } = signal;
    const isDisconnected = isJsonObject(reason) && reason["code"] === "CONNECTION_CLOSED";
    // Over HTTP, the end of its connection is the cancel of a call.
    return signal.aborted && (this.#isClosed || (connection !== undefined && isDisconnected));
  }

  async #cancel(id: string, call: WatchedCall): Promise<void> {
    try {
      if ((await call.sessions.refusal("cancel", id)) !== undefined || this.#running.has(id)) return;
      await this.#inSession(id, call, async (session) => {
        await session.cancel(cancelReason);
        await session.settled();
      });
    } catch (error) {
      this.#onError(error);
    }
  }
}
