import type { AgentInput } from "@moora/agent-core-state-machine";
import {
  checkedChain,
  LogError,
  maxRecordLength,
  type ChainHead,
  type LogRecord,
  type MaybePromise,
} from "@moora/event-log";
import type { CommitResult } from "@moora/moorex";
import type { CommittedStep } from "../session/machine.ts";
import type { LogHandle } from "./log-handle.ts";
import { attempt, andFinally, andThen } from "./maybe-promise.ts";
import { SessionError } from "./session-error.ts";
import { inputToBody, inputToRecord, recordToInput } from "./session-record.ts";

type Commit = MaybePromise<CommitResult<AgentInput>>;

/**
 * The end of a log as one session knows it. Writes what the session accepts, and finds what others appended: on a
 * conflict, or when the log says that there is something new.
 */
export interface LogWriter {
  readonly at: ChainHead;
  /** Throws `RecordTooLong` for an input that no log takes. */
  check(input: AgentInput): void;
  /**
   * Makes steps durable, in one append unless they are longer than a log takes at once; returns what precedes them in the log: inputs of others, and own ones whose append had
   * been reported as failed. Throws `StaleWriter` when another owner took over.
   */
  commit(steps: readonly CommittedStep[]): Commit;
  /** What others appended since. Offer it to the session as it is, and say so with `taken`. */
  pull(): MaybePromise<readonly AgentInput[]>;
  /** What was pulled is part of the session now, or never will be. */
  taken(inputs: readonly AgentInput[]): void;
  /** Whether an input that was pulled has become part of the session by another way in the meantime. */
  knows(input: AgentInput): boolean;
  /** Where an input stands in the log. */
  placeOf(input: AgentInput): ChainHead | undefined;
}

export interface LogWriterOptions {
  readonly handle: LogHandle;
  readonly start: ChainHead;
  /** Whether this session runs effects: then another one's `session-opened` makes it stale. */
  readonly runsEffects: boolean;
}

export function logWriter({ handle, start, runsEffects }: LogWriterOptions): LogWriter {
  let head = start;
  const places = new WeakMap<AgentInput, ChainHead>();
  const fromLog = new WeakSet<AgentInput>();
  /** Inputs of unacknowledged appends (outcome unknown), by the digests of their records. */
  const unacknowledged = new Map<string, AgentInput>();
  /** Whether the last append failed so that the log has to be looked at before the next one. */
  let failed = false;
  let committing: Promise<void> | undefined;

  const advanceTo = ({ seq, digest }: ChainHead): void => {
    if (seq > head.seq) head = { seq, digest };
  };

  /** The inputs of records that follow the head. Those among `own` come back as what they were. */
  const inputsOf = (
    records: readonly LogRecord[],
    own?: ReadonlyMap<string, AgentInput>,
  ): readonly AgentInput[] =>
    checkedChain(head, records).map((record) => {
      const input = own?.get(record.digest) ?? recordToInput(record);
      if (runsEffects && input.type === "session-opened" && !unacknowledged.has(record.digest))
        throw new SessionError("StaleWriter", `The session was taken over by ${input.owner}.`, {
          owner: input.owner,
          seq: record.seq,
        });
      places.set(input, { seq: record.seq, digest: record.digest });
      return input;
    });

  /** What stands after the head goes before the batch, which is then transitioned and offered again. */
  const applyForeign = (records: readonly LogRecord[]): CommitResult<AgentInput> => {
    const before = inputsOf(records, unacknowledged);
    for (const record of records) advanceTo(record);
    return { before: before.map((input) => ({ input })) };
  };

  const settleConflict = (): Commit =>
    andThen(handle.log.read(head.seq), (records) => {
      if (records.length > 0) return applyForeign(records);
      throw new LogError("Conflict", "The log ends before what this session has accepted.", {
        seq: head.seq,
      });
    });

  const acknowledge = (steps: readonly CommittedStep[], records: readonly LogRecord[]): undefined => {
    steps.forEach(({ input }, index) => {
      const record = records[index];
      if (record !== undefined) places.set(input, { seq: record.seq, digest: record.digest });
    });
    advanceTo(records.at(-1) ?? head);
    unacknowledged.clear();
    return undefined;
  };

  const longest = (): number => handle.log.maxRecordLength ?? maxRecordLength;

  const append = (steps: readonly CommittedStep[], onFailure: (error: unknown) => Commit): Commit => {
    const records = recordsOf(head, steps);
    const markUnacknowledged = (): void =>
      steps.forEach(({ input }, index) => unacknowledged.set(records[index]?.digest ?? "", input));
    const parts = appendable(records, longest());
    // A later part that fails leaves the earlier ones in the log: they are found as own inputs of an append in doubt.
    if (parts.length > 1) markUnacknowledged();
    return attempt(
      () => appendInTurn(handle, parts),
      () => acknowledge(steps, records),
      (error) => {
        if (error instanceof LogError && error.code === "Conflict") return settleConflict();
        failed = true;
        markUnacknowledged();
        return onFailure(error);
      },
    );
  };

  const rethrow = (error: unknown): never => {
    throw error;
  };

  /** After a failed append: opens the log again and looks what is in it, before anything else is written. */
  const appendAfterReopen = (steps: readonly CommittedStep[]): Commit =>
    andThen(handle.renew(), () =>
      andThen(handle.log.read(head.seq), (records) => {
        failed = false;
        return records.length > 0 ? applyForeign(records) : append(steps, rethrow);
      }),
    );

  /** Stores refuse to go on after a failed write until the session is opened again: done once, and at once. */
  const retryOnce =
    (steps: readonly CommittedStep[]) =>
    (error: unknown): Commit =>
      error instanceof LogError && error.code === "LogWrite" ? appendAfterReopen(steps) : rethrow(error);

  const unseen = (records: readonly LogRecord[]): readonly AgentInput[] => {
    const inputs = inputsOf(records.filter(({ seq }) => seq > head.seq));
    for (const input of inputs) fromLog.add(input);
    return inputs;
  };

  /**
   * What is new in the log. A commit under way finds out by itself what it has in its way, and may be among it. Own
   * inputs that were in doubt are for the next commit to settle, in their order: here they count as inputs of others.
   */
  const readNew = (): MaybePromise<readonly AgentInput[]> =>
    andThen(handle.log.read(head.seq), (records) =>
      committing === undefined ? unseen(records) : committing.then(() => unseen(records)),
    );

  return {
    get at() {
      return head;
    },
    check(input) {
      const { length } = inputToBody(input);
      if (length > longest()) throw tooLong(input, length, longest());
    },
    commit(steps) {
      const own = steps.filter(({ input }) => !fromLog.has(input));
      if (own.length === 0) {
        for (const { input } of steps) advanceTo(places.get(input) ?? head);
        return undefined;
      }
      const commit = failed ? appendAfterReopen(own) : append(own, retryOnce(own));
      committing = andFinally(commit, () => (committing = undefined));
      return commit;
    },
    pull: () =>
      // Own appends are heard of as well: asking where the log ends costs less than reading nothing.
      andThen(handle.log.head(), (seq) => (seq <= head.seq ? [] : readNew())),
    taken(inputs) {
      for (const input of inputs) advanceTo(places.get(input) ?? head);
    },
    knows: (input) => fromLog.has(input) && (places.get(input)?.seq ?? 0) <= head.seq,
    placeOf: (input) => places.get(input),
  };
}

function recordsOf(head: ChainHead, steps: readonly CommittedStep[]): readonly LogRecord[] {
  const records: LogRecord[] = [];
  let last = head;
  for (const { input, step } of steps) {
    const record = inputToRecord(last, input, step.changes);
    records.push(record);
    last = record;
  }
  return records;
}

/** The records in parts that a log takes at once. */
function appendable(records: readonly LogRecord[], longest: number): readonly (readonly LogRecord[])[] {
  const parts: LogRecord[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const record of records) {
    length += record.body.length;
    if (length > longest) {
      parts.push([]);
      length = record.body.length;
    }
    parts.at(-1)?.push(record);
  }
  return parts;
}

function appendInTurn(
  handle: LogHandle,
  [part, ...later]: readonly (readonly LogRecord[])[],
): MaybePromise<void> {
  const [first] = part ?? [];
  if (part === undefined || first === undefined) return undefined;
  const appended = handle.log.append(first.seq - 1, part);
  return later.length === 0 ? appended : andThen(appended, () => appendInTurn(handle, later));
}

const tooLong = ({ type }: AgentInput, length: number, longest: number): SessionError =>
  new SessionError(
    "RecordTooLong",
    `The record of this ${type} would be ${length} characters long; the log takes up to ${longest}. Split the text, or keep it elsewhere and pass a reference.`,
  );
