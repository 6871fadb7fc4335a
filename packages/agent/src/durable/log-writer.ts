import type { AgentInput } from "@moora/agent-core-state-machine";
import { checkedChain, LogError, type ChainHead, type LogRecord, type MaybePromise } from "@moora/event-log";
import type { CommitResult, CommittedInput } from "@moora/moorex";
import type { InputLedger, PendingStep } from "../session/machine.ts";
import { PendingInput } from "../session/pending-input.ts";
import { appendable, appendInTurn, longestAppend, stepsToRecords } from "./appends.ts";
import type { LogHandle } from "./log-handle.ts";
import { attempt, andFinally, andThen } from "./maybe-promise.ts";
import { SessionError } from "./session-error.ts";
import { recordToInput } from "./session-record.ts";

type Commit = MaybePromise<CommitResult<PendingInput, ChainHead>>;

export interface LogWriterOptions {
  readonly handle: LogHandle;
  readonly start: ChainHead;
  /** Whether this session runs effects: then another one's `session-opened` makes it stale. */
  readonly runsEffects: boolean;
}

/**
 * The end of a log as one session knows it. Writes what the session accepts, and finds what others appended: on a
 * conflict, or when the log reports that there is something new.
 */
export class LogWriter implements InputLedger {
  readonly #handle: LogHandle;
  readonly #runsEffects: boolean;
  #head: ChainHead;
  /** Inputs of unacknowledged appends (outcome unknown), by the digests of their records. */
  readonly #unacknowledged = new Map<string, PendingInput>();
  /** Whether the last append failed so that the log has to be read before the next one. */
  #mustReopen = false;
  #committing: Promise<void> | undefined;

  constructor({ handle, start, runsEffects }: LogWriterOptions) {
    this.#handle = handle;
    this.#head = start;
    this.#runsEffects = runsEffects;
  }

  /** The newest record that is part of the session. */
  get head(): ChainHead {
    return this.#head;
  }

  /** Throws `RecordTooLong` for an input that no log takes. */
  check(pending: PendingInput): void {
    // An input that was read from the log fits into it.
    if (pending.position !== undefined) return;
    const { length } = pending.body;
    const longest = longestAppend(this.#handle);
    if (length > longest) throw tooLong(pending.input, length, longest);
  }

  /**
   * Makes steps durable, in one append unless they are longer than a log takes at once. Returns their positions, or what
   * precedes them in the log: inputs of others, and own ones whose append had been reported as failed. Throws
   * `StaleWriter` when another owner took over.
   */
  commit(steps: readonly PendingStep[]): Commit {
    const own = steps.filter(({ input }) => input.position === undefined);
    if (own.length === 0) return this.#acknowledge(steps, []);
    const commit = this.#mustReopen
      ? this.#appendAfterReopen(steps)
      : this.#append(steps, (error) => this.#retryOnce(steps, error));
    this.#committing = andFinally(commit, () => (this.#committing = undefined));
    return commit;
  }

  /** What others appended since. Dispatch it to the session as it is, then call `skipTo`. */
  pull(): MaybePromise<readonly PendingInput[]> {
    // Own appends are reported by the log as well: asking where it ends costs less than reading nothing.
    return andThen(this.#handle.log.head(), (seq) => (seq <= this.#head.seq ? [] : this.#readNew()));
  }

  /** Continues after these inputs of the log: they are part of the session now, or never will be. */
  skipTo(inputs: readonly PendingInput[]): void {
    for (const { position } of inputs) if (position !== undefined) this.#advanceTo(position);
  }

  #advanceTo({ seq, digest }: ChainHead): void {
    if (seq > this.#head.seq) this.#head = { seq, digest };
  }

  /**
   * What is new in the log. A commit under way finds out by itself what precedes it, and may be among it. Own inputs whose
   * append was not acknowledged are for the next commit to settle, in their order: here they count as inputs of others.
   */
  #readNew(): MaybePromise<readonly PendingInput[]> {
    const unread = (records: readonly LogRecord[]): readonly PendingInput[] =>
      this.#inputsOf(records.filter(({ seq }) => seq > this.#head.seq)).map(({ input }) => input);
    return andThen(this.#handle.log.read(this.#head.seq), (records) =>
      this.#committing === undefined ? unread(records) : this.#committing.then(() => unread(records)),
    );
  }

  /** The inputs of records that follow the head. Those among `own` are the inputs that this session dispatched. */
  #inputsOf(
    records: readonly LogRecord[],
    own?: ReadonlyMap<string, PendingInput>,
  ): readonly CommittedInput<PendingInput, ChainHead>[] {
    return checkedChain(this.#head, records).map(({ seq, digest, body }) => {
      const position = { seq, digest };
      const pending = own?.get(digest) ?? new PendingInput(recordToInput({ seq, body }), position);
      if (this.#runsEffects && !this.#unacknowledged.has(digest)) checkOwner(pending.input, seq);
      return { input: pending, position };
    });
  }

  /** What follows the head precedes the batch, which is then transitioned and committed again. */
  #takeForeign(records: readonly LogRecord[]): CommitResult<PendingInput, ChainHead> {
    const before = this.#inputsOf(records, this.#unacknowledged);
    for (const record of records) this.#advanceTo(record);
    return { before };
  }

  #append(steps: readonly PendingStep[], onFailure: (error: unknown) => Commit): Commit {
    const own = steps.filter(({ input }) => input.position === undefined);
    const records = stepsToRecords(this.#head, own);
    const markUnacknowledged = (): void =>
      own.forEach(({ input }, index) => this.#unacknowledged.set(records[index]?.digest ?? "", input));
    const parts = appendable(records, longestAppend(this.#handle));
    // A later part that fails leaves the earlier ones in the log: they are found as unacknowledged own inputs.
    if (parts.length > 1) markUnacknowledged();
    return attempt(
      () => appendInTurn(this.#handle, parts),
      () => this.#acknowledge(steps, records),
      (error) => {
        if (error instanceof LogError && error.code === "Conflict") return this.#settleConflict();
        this.#mustReopen = true;
        markUnacknowledged();
        return onFailure(error);
      },
    );
  }

  /** The positions of steps: `records` are those of the steps that were not in the log before. */
  #acknowledge(
    steps: readonly PendingStep[],
    records: readonly LogRecord[],
  ): CommitResult<PendingInput, ChainHead> {
    const appended = records.values();
    const positions = steps.map(({ input }) => {
      if (input.position !== undefined) return input.position;
      const { seq, digest } = appended.next().value ?? this.#head;
      return { seq, digest };
    });
    for (const position of positions) this.#advanceTo(position);
    if (records.length > 0) this.#unacknowledged.clear();
    return { positions };
  }

  #settleConflict(): Commit {
    const { seq } = this.#head;
    return andThen(this.#handle.log.read(seq), (records) => {
      if (records.length > 0) return this.#takeForeign(records);
      throw new LogError("Conflict", "The log ends before what this session has accepted.", { seq });
    });
  }

  /** Stores refuse to continue after a failed write until the session is opened again: done once, and at once. */
  #retryOnce(steps: readonly PendingStep[], error: unknown): Commit {
    if (error instanceof LogError && error.code === "LogWrite") return this.#appendAfterReopen(steps);
    throw error;
  }

  /** After a failed append: opens the log again and reads what it contains, before anything else is written. */
  #appendAfterReopen(steps: readonly PendingStep[]): Commit {
    return andThen(this.#handle.renew(), () =>
      andThen(this.#handle.log.read(this.#head.seq), (records) => {
        this.#mustReopen = false;
        if (records.length > 0) return this.#takeForeign(records);
        return this.#append(steps, (error) => {
          throw error;
        });
      }),
    );
  }
}

/** Throws `StaleWriter` for the input with which another owner took the session over. */
function checkOwner(input: AgentInput, seq: number): void {
  if (input.type !== "session-opened") return;
  const { owner } = input;
  throw new SessionError("StaleWriter", `The session was taken over by ${owner}.`, { owner, seq });
}

const tooLong = ({ type }: AgentInput, length: number, longest: number): SessionError =>
  new SessionError(
    "RecordTooLong",
    `The record of this ${type} would be ${length} characters long; the log takes up to ${longest}. Split the text, or keep it elsewhere and pass a reference.`,
  );
