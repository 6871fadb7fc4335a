import { foldHeader, LogError, recordToInput, systemClock, type AgentState } from "@moora/agent";
import { answerOfText, questionsAt, SessionOutput } from "@moora/agent/internal";
import { step } from "@moora/agent-core-state-machine";
import { checkedChain, type LogRecord } from "@moora/event-log";
import { logRemoved } from "@moora/event-log/store";
import { RestateFailure } from "./ingress.ts";
import type { RestateSession } from "./session-handle.ts";
import { queryOf, type SessionCache, type SessionWithHeader } from "./session-cache.ts";
import type { SessionReader } from "./session-reader.ts";

export interface FollowerOptions {
  readonly id: string;
  readonly reader: SessionReader;
  readonly cache: Pick<SessionCache, "readCurrent">;
  readonly decide: RestateSession["decide"];
}

/** What a caller waits for. */
export interface Following {
  /** Whether to stop reading. */
  readonly isOver: () => boolean;
  /** Receives the state after each record. Default: none. */
  readonly onState?: (state: AgentState) => void;
  /** Whether the session must exist, because an input of the caller has applied. Default: no, it is waited for. */
  readonly exists?: boolean;
}

/** The wait between two reads, in milliseconds: the first one after a change, doubled at each read up to the longest one. */
const [firstWaitMs, longestWaitMs] = [25, 1_000];

/** Follows the records of a session for one caller who waits. They are folded one by one, and reported to the runs that wait for an answer. */
export class SessionFollower<Answer> {
  readonly #options: FollowerOptions;
  readonly #onOpen: (output: SessionOutput<Answer>) => void;
  #known: SessionWithHeader | undefined;
  #output: SessionOutput<Answer> | undefined;
  #waitMs = firstWaitMs;
  #endWait: () => void = () => undefined;

  /** `onOpen` is called when the session is known, before a record that follows. */
  constructor(options: FollowerOptions, onOpen: (output: SessionOutput<Answer>) => void = () => undefined) {
    this.#options = options;
    this.#onOpen = onOpen;
  }

  /** The state as far as the session was read; undefined if it has received nothing. */
  get state(): AgentState | undefined {
    return this.#known?.session.state;
  }

  get output(): SessionOutput<Answer> | undefined {
    return this.#output;
  }

  /** Reads the session as it is now. Rejects with `RestateFailure`. */
  async begin(): Promise<void> {
    const known = await this.#options.cache.readCurrent(this.#options.id);
    if (known !== undefined) this.#open(known);
  }

  /** Polls for new records until `isOver` returns true. Rejects if the session is removed, or can no longer be read. */
  async follow({ isOver, onState = () => undefined, exists = false }: Following): Promise<void> {
    while (!isOver()) {
      const hasChanged = await this.#hasChanged(onState, exists);
      this.#waitMs = hasChanged ? firstWaitMs : Math.min(2 * this.#waitMs, longestWaitMs);
      if (!isOver()) await this.#wait();
    }
  }

  /** Reads at once: the handle has posted an input, or it is over. */
  wake(): void {
    this.#waitMs = firstWaitMs;
    this.#endWait();
  }

  #open(known: SessionWithHeader): void {
    const { id, decide } = this.#options;
    const initial = known.session.state;
    this.#known = known;
    this.#output = new SessionOutput<Answer>(
      {
        // The caller names the type of the answer; the agent has checked that it fits.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        answerOf: async (text, schema = initial.config.answerSchema) => answerOfText(text, schema) as Answer,
      },
      { id, initial, runsEffects: false },
      { questions: () => questionsAt(this.state ?? initial), decide },
    );
    this.#onOpen(this.#output);
  }

  /** Resolves with whether there was a new record. While Restate does not answer, there is none. */
  async #hasChanged(onState: (state: AgentState) => void, exists: boolean): Promise<boolean> {
    const before = this.#known?.session.head.seq ?? 0;
    try {
      await this.#read(onState, exists);
    } catch (error) {
      if (!isOutage(error)) throw error;
    }
    return (this.#known?.session.head.seq ?? 0) > before;
  }

  async #read(onState: (state: AgentState) => void, exists: boolean): Promise<void> {
    const { id, reader } = this.#options;
    const view = await reader.view(id, this.#known === undefined ? null : queryOf(this.#known));
    if (view === undefined) {
      if (exists || this.#known !== undefined) throw logRemoved(id);
      return;
    }
    const isWhole = "header" in view;
    // A session that did not exist before is followed from its first record.
    if (isWhole && this.#known === undefined)
      this.#open({ header: view.header, session: foldHeader(view.header) });
    const known = this.#known;
    if (known === undefined || (isWhole && view.header !== known.header)) throw logRemoved(id);
    const after = known.session.head.seq;
    const first = isWhole && view.snapshot.seq !== after ? [] : view.records;
    try {
      for await (const page of reader.recordPages(id, { after, last: view.seq, first }))
        this.#fold(page, onState);
    } catch (error) {
      // The records of another session with its id do not continue this one.
      const now = error instanceof LogError ? await reader.view(id, null) : undefined;
      if (now !== undefined && "header" in now && now.header !== known.header) throw logRemoved(id);
      throw error;
    }
  }

  /** Folds the records after the last one. Throws `LogCorrupt` for others, and `UnsupportedVersion` for one of a newer release. */
  #fold(records: readonly LogRecord[], onState: (state: AgentState) => void): void {
    for (const record of records) {
      if (this.#known === undefined) return;
      const { header, session } = this.#known;
      checkedChain(session.head, [record]);
      const { seq, digest } = record;
      const input = recordToInput(record);
      const next = step(input)(session.state);
      this.#known = { header, session: { ...session, state: next.state, head: { seq, digest } } };
      this.#output?.published({ input }, next, seq);
      onState(next.state);
    }
  }

  async #wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = systemClock.after(this.#waitMs, resolve);
    this.#endWait = resolve;
    await promise;
    cancel();
  }
}

/** Whether Restate does not answer, or its services do not work: a later read may succeed. */
const isOutage = (error: unknown): boolean =>
  error instanceof RestateFailure && (error.status === undefined || error.status >= 500);
