import {
  beginReplay,
  type AgentChange,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import {
  chainStart,
  digestOf,
  LogError,
  type EventLog,
  type LogRecord,
  type Snapshot,
} from "@moora/event-log";
import { textToJson } from "@moora/llm/internal";
import { isSameJson } from "../durable/canonical-json.ts";
import { isConfirmed, snapshotVersion } from "../durable/restore.ts";
import { SessionError } from "../durable/session-error.ts";
import { headerToState, textToHeader } from "../durable/session-header.ts";
import { digestOfChanges, recordToInput } from "../durable/session-record.ts";
import { sessionLog } from "./read-session.ts";

/** What a verification found. `seq` is the last good record, or the one that the problem is about. */
export type VerifyReport =
  | {
      readonly ok: true;
      readonly seq: number;
      readonly digest: string;
      /** The length of an append after the last record that a crash cut short; it was never acknowledged. */
      readonly unfinishedBytes: number;
    }
  | {
      readonly ok: false;
      readonly seq: number;
      /**
       * `damaged`: a record is not what was stored, or missing; `unsupported`: a newer release wrote it; `differs`: it
       * changes something else than when it was written; `snapshot`: the snapshot of record `seq` is not the state that
       * the records lead to, or no later record confirms it.
       */
      readonly reason: "damaged" | "unsupported" | "differs" | "snapshot";
      readonly message: string;
      readonly input?: AgentInput;
      /** The digest of what the input changed: when it was written, and now. */
      readonly expected?: string;
      readonly found?: string;
      /** What the input changes now. */
      readonly changes?: readonly AgentChange[];
    };

type Problem = Extract<VerifyReport, { ok: false }>;

/**
 * Replays a session and compares every record with its digest, and the snapshot with the records. Names the first record
 * that is not what it was. Writes nothing. Rejects with `SessionUnknown`, and with what keeps the log from being read.
 */
export async function verifySession(log: EventLog, id: string): Promise<VerifyReport> {
  try {
    const session = await sessionLog(log, id);
    // Before the records: those that confirm it are in the log by then.
    const snapshot = await session.snapshot();
    const { records, damage, unfinishedBytes } = await session.inspect();
    const { differing, ofSnapshot } = problemsIn(session.header, records, snapshot);
    if (differing !== undefined) return differing;
    if (damage !== undefined) throw damage;
    const { seq, digest } = records.at(-1) ?? chainStart(session.header);
    return ofSnapshot ?? { ok: true, seq, digest, unfinishedBytes };
  } catch (error) {
    const report = error instanceof LogError || error instanceof SessionError ? reportOf(error) : undefined;
    if (report === undefined) throw error;
    return report;
  }
}

interface Problems {
  /** The first record that changes something else than when it was written. */
  readonly differing?: Problem;
  readonly ofSnapshot?: Problem | undefined;
}

function problemsIn(header: string, records: readonly LogRecord[], snapshot: Snapshot | undefined): Problems {
  const replay = beginReplay(headerToState(textToHeader(header)), { changes: true });
  let ofSnapshot = snapshot && snapshotProblem(snapshot, records);
  for (const record of records) {
    const { seq, changesDigest: expected } = record;
    const input = recordToInput(record);
    const changes = replay.apply(input)?.changes ?? [];
    const found = digestOfChanges(changes);
    if (found !== expected) {
      const message = `Record ${seq}, ${input.type}, does not change what it changed when it was written.`;
      return { differing: { ok: false, seq, reason: "differs", message, input, expected, found, changes } };
    }
    if (seq === snapshot?.seq && !holds(snapshot, replay.state()))
      ofSnapshot ??= badSnapshot(seq, "is not the state that the records lead to");
  }
  return { ofSnapshot };
}

/** What is wrong with a snapshot beside the records, whatever its state is. */
function snapshotProblem(snapshot: Snapshot, records: readonly LogRecord[]): Problem | undefined {
  const { seq, digest } = snapshot;
  if (seq > records.length) {
    const message = `The log ends after record ${records.length}, but there is a snapshot of record ${seq}.`;
    return { ok: false, seq: records.length + 1, reason: "damaged", message };
  }
  if (records[seq - 1]?.digest !== digest) return badSnapshot(seq, "is of another log");
  if (isConfirmed(snapshot, records)) return undefined;
  return badSnapshot(seq, "is confirmed by no later record: it is forged, or the end of the log is missing");
}

const badSnapshot = (seq: number, what: string): Problem => ({
  ok: false,
  seq,
  reason: "snapshot",
  message: `The snapshot of record ${seq} ${what}.`,
});

/** Whether a snapshot holds a state. One of another release cannot be compared. */
const holds = ({ version, body, bodyDigest }: Snapshot, state: AgentState): boolean =>
  version !== snapshotVersion ||
  digestOf(JSON.stringify(state)) === bodyDigest ||
  isSameJson(textToJson(body), state);

const reasons: Readonly<Record<string, "damaged" | "unsupported">> = {
  LogCorrupt: "damaged",
  UnsupportedVersion: "unsupported",
};

function reportOf({ code, message, seq = 0 }: LogError | SessionError): VerifyReport | undefined {
  const reason = reasons[code];
  return reason && { ok: false, seq, reason, message };
}
