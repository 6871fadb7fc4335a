import { errorText } from "@moora/agent-core-effects/internal";
import { LogError, type LogRecord } from "@moora/event-log";
import { callSession, RestateFailure } from "./ingress.ts";
import type { AppendResult, LogHead, SessionAppend } from "./session-messages.ts";
import { SessionReader, type ReaderOptions } from "./session-reader.ts";

/** How long a log waits for an answer. A call needs a process with the services, and waits on Restate while there is none. */
const longestCallMs = 30_000;

/** Aborts a call that takes too long. */
export const callTimeout = (): AbortSignal => AbortSignal.timeout(longestCallMs);

/** What a log changes of a session, by the handler of its object. */
const actions = { create: "create", append: "append to", remove: "remove" } as const;

interface LogCall {
  readonly id: string;
  readonly handler: keyof typeof actions;
  /** Default: none. */
  readonly body?: unknown;
}

/** The calls of a log to the objects of sessions. Each rejects with `LogError`. */
export class LogCalls {
  readonly #options: ReaderOptions;
  readonly #reader: SessionReader;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#reader = new SessionReader(options);
  }

  /** Resolves with false if the session exists. */
  async create(id: string, header: string): Promise<boolean> {
    return await this.#call<boolean>({ id, handler: "create", body: { header } });
  }

  /** Resolves with the header; undefined if there is no such session. */
  async readHeader(id: string): Promise<string | undefined> {
    return await attempt(id, "open", () => this.#reader.readHeader(id, callTimeout));
  }

  /** Resolves with which session an id has, and its last record; undefined if it has none. */
  async readHead(id: string): Promise<LogHead | undefined> {
    return await attempt(id, "read", () => this.#reader.readHead(id, callTimeout));
  }

  async append(id: string, body: SessionAppend): Promise<AppendResult> {
    return await this.#call<AppendResult>({ id, handler: "append", body });
  }

  /** Resolves with whether there was a session. */
  async remove(id: string): Promise<boolean> {
    return await this.#call<boolean>({ id, handler: "remove" });
  }

  /** Resolves with the records after `after`, up to `last`. */
  async readRecords(
    id: string,
    range: { readonly after: number; readonly last: number },
  ): Promise<readonly LogRecord[]> {
    return await attempt(id, "read", () => this.#reader.readRecords(id, range, callTimeout));
  }

  // The object answers with what its handlers return.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  async #call<Result>({ id, handler, body = null }: LogCall): Promise<Result> {
    const { ingressUrl, service } = this.#options;
    const called = attempt(id, actions[handler], () =>
      callSession(ingressUrl, { service, id, handler }, body, callTimeout()),
    );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return (await called) as Result;
  }
}

async function attempt<Result>(id: string, action: string, call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (cause) {
    const message = `Restate could not ${action} the session ${JSON.stringify(id)}: ${errorText(cause)}`;
    throw new LogError(isRefusal(cause) ? "InvalidRecord" : "LogWrite", message, { cause });
  }
}

/** Whether the object has refused what it was called with: it is invalid, or too long. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RestateFailure && [400, 403, 413].includes(error.status ?? 0);
