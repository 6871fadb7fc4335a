import type { AgentInput } from "@moora/agent-core-state-machine";
import { checkedChain, LogError, type ChainHead, type LogRecord, type MaybePromise } from "@moora/event-log";
import { andThen, readInTurns } from "@moora/event-log/store";
import type { CommitResult, CommittedInput } from "@moora/moorex";
import type { InputLedger } from "../session/machine.ts";
import { PendingInput } from "../session/pending-input.ts";
import {
  splitIntoAppends,
  appendInTurn,
  longestAppend,
  stepsToRecords,
  type AcceptedInput,
} from "./appends.ts";
import type { LogHandle } from "./log-handle.ts";
import { attempt, andFinally } from "./maybe-promise.ts";
import { SessionError } from "./session-error.ts";
import { recordToInput } from "./session-record.ts";

type Commit = MaybePromise<CommitResult<PendingInput>>;

export interface LogWriterOptions {
  readonly handle: LogHandle;
  readonly start: ChainHead;
  /** Whether this session runs effects. If so, the `session-opened` of another owner makes it stale. */
  readonly runsEffects: boolean;
  /** Called when an append failed and is tried again in a newly opened log. */
  readonly onRetry: (error: unknown) => void;
  /** Called when another process has appended records first: they are applied before the inputs are appended again. */
  readonly onConflict: (records: number) => void;
}

/**
 * The way into a log: appends accepted inputs by compare-and-set, and reads the records that other processes appended, after a
 * conflict or when the log reports a change. An owner is that and a lease; a poster is that, and so is a runner of an engine.
 */
export class LogWriter implements InputLedger {
  readonly #handle: LogHandle;
  readonly #runsEffects: boolean;
  readonly #onRetry: LogWriterOptions["onRetry"];
  readonly #onConflict: LogWriterOptions["onConflict"];
  #head: ChainHead;
  /** The inputs of appends whose outcome is unknown, by the digests of their records. */
  readonly #unacknowledged = new Map<string, PendingInput>();
  /** Whether the log must be opened and read again before the next append, because the last one failed. */
  #mustReopen = false;
  #committing: Promise<void> | undefined;

  constructor({ handle, start, runsEffects, onRetry, onConflict }: LogWriterOptions) {
    this.#handle = handle;
    this.#runsEffects = runsEffects;
    this.#onRetry = onRetry;
    this.#onConflict = onConflict;
    this.#head = start;
  }

  /** The last record that is part of the session. */
  get head(): ChainHead {
    return this.#head;
  }

  /** `RecordTooLong` for an input that is longer than the log accepts. */
  refusalOf(pending: PendingInput): SessionError | undefined {
    // An input that was read from the log is not appended again.
    if (pending.position !== undefined) return undefined;
    const { length } = pending.body;
    const longest = longestAppend(this.#handle);
    return length > longest ? tooLongError(pending.input, length, longest) : undefined;
  }

  /**
   * Makes steps durable, with one append unless they are too long for one. Gives their inputs positions, or returns those that
   * precede them in the log: those of other processes, and own inputs whose append was reported as failed. Throws
   * `StaleWriter` if another owner has taken the session over.
   */
  commit(steps: readonly AcceptedInput[]): Commit {
    if (steps.every(isStored)) return this.#acknowledge(steps, []);
    const isCertain = !this.#mustReopen && this.#unacknowledged.size === 0;
    // Inputs of the log precede the intents of the effects that they make wanted: an append would conflict with them.
    if (isCertain && steps.some(isStored)) return this.#precede(steps);
    const commit = this.#mustReopen
      ? this.#appendAfterReopen(steps)
      : this.#append(steps, (error) => this.#retryOnce(steps, error));
    this.#committing = andFinally(commit, () => (this.#committing = undefined));
    return commit;
  }

  /**
   * The inputs that other processes have appended since. Dispatch them unchanged, then call `skipTo`. A running commit resolves its own
   * conflicts, and its records may be among the new ones. Own inputs with an unacknowledged append count as inputs of other processes
   * here; the next commit settles them in order.
   */
  async pull(): Promise<readonly PendingInput[]> {
    const { log } = this.#handle;
    // A log may report changes that this session knows, such as its own appends: its head costs less than its records.
    if ((await log.head()) <= this.#head.seq) return [];
    const records = await readInTurns(log, this.#head.seq);
    await this.#committing;
    return this.#inputsOf(records.filter(({ seq }) => seq > this.#head.seq)).map(({ input }) => input);
  }

  /** Moves the head behind these inputs of the log, whether or not they became part of the session. */
  skipTo(inputs: readonly PendingInput[]): void {
    for (const { position } of inputs) if (position !== undefined) this.#advanceTo(position);
  }

  #advanceTo(position: ChainHead): void {
    if (position.seq > this.#head.seq) this.#head = position;
  }

  /** The inputs of records that follow the head. For records of this session they are the dispatched ones from `own`. */
  #inputsOf(
    records: readonly LogRecord[],
    own?: ReadonlyMap<string, PendingInput>,
  ): readonly CommittedInput<PendingInput>[] {
    return checkedChain(this.#head, records).map(({ seq, digest, body }) => {
      const position = { seq, digest };
      const pending = own?.get(digest) ?? new PendingInput(recordToInput({ seq, body }));
      pending.position = position;
      if (this.#runsEffects && !this.#unacknowledged.has(digest)) checkOwner(pending.input, seq);
      return { input: pending };
    });
  }

  /** The records that precede a batch after a conflict. The runner applies them, then commits the batch again. */
  #takeForeign(records: readonly LogRecord[]): CommitResult<PendingInput> {
    const before = this.#inputsOf(records, this.#unacknowledged);
    for (const { seq, digest } of records) this.#advanceTo({ seq, digest });
    return { before };
  }

  /** The inputs of these steps that are in the log already, to be applied first. */
  #precede(steps: readonly AcceptedInput[]): CommitResult<PendingInput> {
    const before = steps.filter(isStored).map(({ input }) => ({ input }));
    this.skipTo(before.map(({ input }) => input));
    return { before };
  }

  #append(steps: readonly AcceptedInput[], onFailure: (error: unknown) => Commit): Commit {
    const own = steps.some(isStored) ? steps.filter(isNew) : steps;
    const records = stepsToRecords(this.#head, own);
    const markUnacknowledged = (): void =>
      own.forEach(({ input }, index) => this.#unacknowledged.set(records[index]?.digest ?? "", input));
    const parts = splitIntoAppends(records, longestAppend(this.#handle));
    // If a later part fails, the earlier ones are in the log, where they are recognized as unacknowledged own inputs.
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

  /** Gives the inputs of steps their positions. `records` are the records of the steps that this append contained. */
  #acknowledge(steps: readonly AcceptedInput[], records: readonly LogRecord[]): undefined {
    let appended = 0;
    for (const { input } of steps) {
      const { seq, digest } = input.position ?? records[appended++] ?? this.#head;
      input.position = { seq, digest };
      this.#advanceTo(input.position);
    }
    if (this.#unacknowledged.size > 0 && records.length > 0) this.#unacknowledged.clear();
  }

  #settleConflict(): Commit {
    const { seq } = this.#head;
    return andThen(this.#handle.log.read(seq), (records) => {
      if (records.length > 0) {
        this.#onConflict(records.length);
        return this.#takeForeign(records);
      }
      throw new LogError("Conflict", `The log ends before record ${seq}, which this session has applied.`, {
        seq,
      });
    });
  }

  /** Opens the log again after a failed write and appends once more: stores refuse appends until then. */
  #retryOnce(steps: readonly AcceptedInput[], error: unknown): Commit {
    if (!(error instanceof LogError) || error.code !== "LogWrite") throw error;
    this.#onRetry(error);
    return this.#appendAfterReopen(steps);
  }

  /** Opens the log again after a failed append, and reads its new records before the next append. */
  #appendAfterReopen(steps: readonly AcceptedInput[]): Commit {
    return andThen(this.#handle.renew(), () =>
      andThen(this.#handle.log.read(this.#head.seq), (records) => {
        this.#mustReopen = false;
        const own = stepsToRecords(this.#head, steps.filter(isNew));
        // The failed append has stored them, and nothing else precedes them.
        if (own.length > 0 && records[own.length - 1]?.digest === own.at(-1)?.digest)
          return this.#acknowledge(steps, own);
        if (records.length > 0) return this.#takeForeign(records);
        return this.#append(steps, (error) => {
          throw error;
        });
      }),
    );
  }
}

/** Whether a step contains an input of the log, which is not appended again. */
const isStored = ({ input }: AcceptedInput): boolean => input.position !== undefined;
const isNew = (step: AcceptedInput): boolean => !isStored(step);

/** Throws `StaleWriter` for the `session-opened` of another owner. */
function checkOwner(input: AgentInput, seq: number): void {
  if (input.type !== "session-opened") return;
  const { owner } = input;
  throw new SessionError("StaleWriter", `The session was taken over by ${owner}.`, { owner, seq });
}

const tooLongError = ({ type }: AgentInput, length: number, longest: number): SessionError =>
  new SessionError(
    "RecordTooLong",
    `The record of this ${type} would be ${length} characters long; the log accepts up to ${longest}. Split the text, or store it elsewhere and pass a reference.`,
  );
