import type { AgentInput } from "@moora/agent-core-state-machine";
import {
  LogError,
  type ChainHead,
  type LogRecord,
  type MaybePromise,
  type SessionLog,
} from "@moora/event-log";
import type { CommitResult } from "@moora/moorex";
import type { CommittedStep } from "../session/agent-machine.ts";
import { attempt, whenThere } from "./maybe-promise.ts";
import { SessionError } from "./session-error.ts";
import { inputToRecord, recordToInput } from "./session-record.ts";

/**
 * The end of a log as one session knows it. Writes what the session accepts, and finds what others appended: on a
 * conflict, or when the log says that there is something new.
 */
export interface LogHead {
  readonly at: ChainHead;
  /** Makes steps durable; answers what others appended first. Throws `StaleWriter` when one of them took over. */
  commit(steps: readonly CommittedStep[]): MaybePromise<CommitResult<AgentInput>>;
  /** What others appended since. Offer it to the session as it is: it is durable already, and `knows` it once taken. */
  pull(): MaybePromise<readonly AgentInput[]>;
  /** Whether an input that `pull` gave has become part of the session in the meantime. */
  knows(input: AgentInput): boolean;
}

export interface LogHeadOptions {
  readonly log: SessionLog;
  readonly start: ChainHead;
  /** Set for the one who runs effects: a foreign `session-opened` makes it stale. */
  readonly owner: string | undefined;
}

export function logHead({ log, start, owner }: LogHeadOptions): LogHead {
  let head = start;
  /** Records that were read before they were taken, by the input that was made of them. */
  const pulled = new WeakMap<AgentInput, ChainHead>();

  const inputsOf = (records: readonly LogRecord[]): readonly AgentInput[] =>
    records.map((record) => {
      const input = recordToInput(record);
      if (owner !== undefined && input.type === "session-opened" && input.owner !== owner)
        throw new SessionError("StaleWriter", `The session was taken over by ${input.owner}.`, {
          owner: input.owner,
          seq: record.seq,
        });
      return input;
    });

  /** Others were first: their inputs go before the batch, which is then transitioned and offered again. */
  const takeForeign = (records: readonly LogRecord[]): CommitResult<AgentInput> => {
    const last = records.at(-1);
    if (last === undefined)
      throw new LogError("Conflict", "The log ends before what this session has accepted.", {
        seq: head.seq,
      });
    const before = inputsOf(records);
    head = { seq: last.seq, digest: last.digest };
    return { before };
  };

  const append = (steps: readonly CommittedStep[]): MaybePromise<CommitResult<AgentInput>> => {
    const records: LogRecord[] = [];
    let last: ChainHead = head;
    for (const { input, step } of steps) {
      const record = inputToRecord(last, input, step.changes);
      records.push(record);
      last = record;
    }
    return attempt(
      () => log.append(head.seq, records),
      () => {
        head = { seq: last.seq, digest: last.digest };
        return undefined;
      },
      (error) => {
        if (error instanceof LogError && error.code === "Conflict")
          return whenThere(log.read(head.seq), takeForeign);
        throw error;
      },
    );
  };

  return {
    get at() {
      return head;
    },
    commit(steps) {
      const own = steps.filter(({ input }) => !pulled.has(input));
      if (own.length > 0) return append(own);
      const last = steps.at(-1);
      head = (last === undefined ? undefined : pulled.get(last.input)) ?? head;
      return undefined;
    },
    pull: () =>
      whenThere(log.read(head.seq), (records) => {
        const inputs = inputsOf(records);
        inputs.forEach((input, index) => {
          const record = records[index];
          if (record !== undefined) pulled.set(input, { seq: record.seq, digest: record.digest });
        });
        return inputs;
      }),
    knows: (input) => (pulled.get(input)?.seq ?? Number.MAX_SAFE_INTEGER) <= head.seq,
  };
}
