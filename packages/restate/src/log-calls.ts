import { SessionError } from "@moora/agent";
import { LogError, type LogRecord } from "@moora/event-log";
import { callSession, RestateFailure } from "./ingress.ts";
import type { AppendResult, SessionAppend } from "./session-messages.ts";
import { SessionReader, type ReaderOptions } from "./session-reader.ts";

/** The calls of a log to the objects of sessions. Each rejects with `LogError`, or `SessionError` for a record that is too long. */
export class LogCalls {
  readonly #options: ReaderOptions;
  readonly #reader: SessionReader;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#reader = new SessionReader(options);
  }

  /** Resolves with false if the session exists. */
  async create(id: string, header: string): Promise<boolean> {
    return await this.#call<boolean>("create the session", { id, handler: "create" }, { header });
  }

  /** Resolves with undefined if there is no such session. */
  async readHeader(id: string): Promise<string | undefined> {
    return (await this.#call<string | null>("read the header", { id, handler: "header" }, null)) ?? undefined;
  }

  /** Resolves with the sequence number of the last record. */
  async readSeq(id: string): Promise<number> {
    return await this.#call<number>("read the head", { id, handler: "seq" }, null);
  }

  async append(id: string, append: SessionAppend): Promise<AppendResult> {
    return await this.#call<AppendResult>("append", { id, handler: "append" }, append);
  }

  /** Resolves with the records after `after`, up to `last`. */
  async readRecords(
    id: string,
    range: { readonly after: number; readonly last: number },
  ): Promise<readonly LogRecord[]> {
    return await attempt("read", id, () => this.#reader.readRecords(id, range));
  }

  // The object answers with what its handlers return.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  async #call<Result>(
    what: string,
    target: { readonly id: string; readonly handler: string },
    body: unknown,
  ): Promise<Result> {
    const { ingressUrl, service } = this.#options;
    const called = attempt(what, target.id, () => callSession(ingressUrl, { service, ...target }, body));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return (await called) as Result;
  }
}

async function attempt<Result>(what: string, id: string, call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw failureOf(what, id, error);
  }
}

function failureOf(what: string, id: string, cause: unknown): LogError | SessionError {
  const status = cause instanceof RestateFailure ? cause.status : undefined;
  const about = cause instanceof Error ? cause.message : String(cause);
  if (status === 413) return new SessionError("RecordTooLong", about);
  if (status === 400 || status === 403) return new LogError("InvalidRecord", about, { cause });
  return new LogError(
    "LogWrite",
    `Restate could not ${what} for the session ${JSON.stringify(id)}: ${about}`,
    {
      cause,
    },
  );
}
