import { forkSession, LogError, readHeader, SessionError } from "@moora/agent";
import { closedBy } from "@moora/agent/internal";
import type { EventLog } from "@moora/event-log";
import type { SessionRef } from "../access/grant.ts";
import { HttpProblem, keyReused, unavailable } from "../problem.ts";
import { isOfFork } from "./session-header.ts";

/** A fork that is being made, and the record that its request names. */
interface Making {
  readonly at: number | undefined;
  readonly seq: Promise<number>;
}

/** The number of removed forks that are remembered. */
const maxRemoved = 10_000;

/** Makes forks of the sessions of a log, each once: its id is that of the request and of all its repetitions. */
export class SessionForks {
  readonly #log: EventLog;
  /** By the ids of the forks. */
  readonly #underWay = new Map<string, Making>();
  /** The ids of forks that were removed, the latest ones last. */
  readonly #removed = new Set<string>();

  constructor(log: EventLog) {
    this.#log = log;
  }

  /**
   * Makes a fork with the first `at` records of a session (default: all), and returns its last record. Equal calls at the same time
   * share one fork. Throws `HttpProblem`: `cursor-beyond-end`, `not-found` for a fork that was removed, `refused`, also where an engine runs the sessions,
   * `idempotency-key-reused` if the fork was made at another record, and `unavailable` while another process writes it.
   */
  async make(ref: SessionRef, sourceId: string, at: number | undefined): Promise<number> {
    this.#checkOwner();
    for (;;) {
      const making = this.#underWay.get(ref.id);
      if (making === undefined) return await this.#begin(ref, sourceId, at);
      if (making.at === at) return await making.seq;
      await making.seq.catch(() => undefined);
    }
  }

  /**
   * Remembers a fork that is about to be removed: a late repetition of its request does not make it again, and so does not run again
   * what the fork has run. Not one that lacks records: a repetition makes it.
   */
  async rememberRemoval(id: string): Promise<void> {
    const log = await this.#log.open(id);
    const lease = await log?.currentLease();
    if (log === undefined || !isOfFork(log.header) || closedBy(lease) !== undefined) return;
    this.#removed.add(id);
    const [oldest = ""] = this.#removed;
    if (this.#removed.size > maxRemoved) this.#removed.delete(oldest);
  }

  /** Registers the fork before anything is awaited, so that each call after this one finds it. */
  async #begin(ref: SessionRef, sourceId: string, at: number | undefined): Promise<number> {
    const seq = this.#findOrFork(ref, sourceId, at);
    this.#underWay.set(ref.id, { at, seq });
    try {
      return await seq;
    } finally {
      this.#underWay.delete(ref.id);
    }
  }

  /** The engine that runs the sessions of a log makes their records, and refuses those that a fork begins with. */
  #checkOwner(): void {
    const { owner } = this.#log;
    if (owner === undefined) return;
    const detail = `The sessions of this server are run by ${owner}, which accepts no forks. Fork into another log, with forkSession.`;
    throw new HttpProblem("refused", detail);
  }

  async #findOrFork(ref: SessionRef, sourceId: string, at: number | undefined): Promise<number> {
    const seq = await this.#find(ref.id, at);
    if (seq === undefined && this.#removed.has(ref.id))
      throw new HttpProblem("not-found", "The fork of this idempotency key was removed.");
    return seq ?? (await this.#fork(ref, sourceId, at));
  }

  async #fork({ id, user }: SessionRef, sourceId: string, at: number | undefined): Promise<number> {
    try {
      const seq = at ?? (await (await this.#log.open(sourceId))?.head()) ?? 0;
      const owned = user === null ? {} : { user };
      return (await forkSession(this.#log, sourceId, seq, { as: id, open: "reuse", ...owned })).seq;
    } catch (error) {
      // Another process has made it for a repetition of this request.
      const isMade = error instanceof LogError && error.code === "LogExists";
      const made = isMade ? await this.#find(id, at) : undefined;
      if (made !== undefined) return made;
      if (isMade) throw unavailable("The fork is being written. Retry.");
      throw forkProblem(error);
    }
  }

  /** The last record of a fork; undefined if it does not exist. */
  async #find(id: string, at: number | undefined): Promise<number | undefined> {
    const log = await this.#log.open(id);
    if (log === undefined) return undefined;
    const { parent } = await readHeader(this.#log, id);
    if (at !== undefined && parent?.seq !== at) throw keyReused();
    // It lacks records: `forkSession` replaces it if its writing was interrupted.
    if (closedBy(await log.currentLease()) !== undefined) return undefined;
    return await log.head();
  }
}

/** The problem of a fork that is refused; any other error as it is. */
function forkProblem(error: unknown): unknown {
  if (error instanceof SessionError && error.code === "InvalidOption" && error.seq !== undefined) {
    const { message, seq } = error;
    return new HttpProblem("cursor-beyond-end", message, { seq, cause: error });
  }
  if (error instanceof SessionError && error.code === "UnsupportedVersion")
    return refusedFrom("was written by a newer release", error);
  // The message of the log may name its file.
  if (error instanceof LogError && error.code === "LogCorrupt") return refusedFrom("is damaged", error);
  return error;
}

function refusedFrom(what: string, error: SessionError | LogError): HttpProblem {
  const { code, seq = 0 } = error;
  const fix = seq > 1 ? " Fork the session at an earlier one." : "";
  const detail = seq === 0 ? `The session ${what}. (${code})` : `Record ${seq} ${what}.${fix} (${code})`;
  return new HttpProblem("refused", detail, { cause: error });
}
