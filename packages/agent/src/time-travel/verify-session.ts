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
import { inTurns } from "../durable/in-turns.ts";
import { isConfirmed, snapshotVersion } from "../durable/restore.ts";
import { SessionError } from "../durable/session-error.ts";
import { headerToState, textToHeader } from "../durable/session-header.ts";
import { checkChanges, digestOfChanges, recordToInput } from "../durable/session-record.ts";
import { sessionLog } from "./read-session.ts";

/** The result of a verification. `seq` is the last record of a valid session, otherwise the record with the problem. */
export type VerifyReport =
  | {
      readonly ok: true;
      readonly seq: number;
      readonly digest: string;
      /**
       * The length of an unfinished, unacknowledged append after the last record, which a crash leaves behind. In
       * bytes.
       */
      readonly unfinishedBytes: number;
      /**
       * The number of records that were folded by other rules, since another release wrote them. Their facts are verified; what
       * the reducer made of them then is not compared.
       */
      readonly foldedByOtherRules: number;
    }
  | {
      readonly ok: false;
      readonly seq: number;
      /**
       * `damaged`: a record was changed or is missing. `unsupported`: a newer release wrote the record. `differs`: the
       * input changes the state in another way than when it was written by the same rules. `snapshot`: the snapshot of record `seq`
       * differs from the state that the records lead to, or no later record confirms it.
       */
      readonly reason: "damaged" | "unsupported" | "differs" | "snapshot";
      readonly message: string;
      readonly input?: AgentInput;
      /** For `differs`, the digest of the changes of the input when it was written (`expected`) and now (`found`). */
      readonly expected?: string;
      readonly found?: string;
      /** For `differs`, the changes of the input now. */
      readonly changes?: readonly AgentChange[];
    };

type Problem = Extract<VerifyReport, { ok: false }>;

/**
 * Verifies a session: replays it and compares every record with its digest, what it changes with what it changed when
 * it was written by the rules of this release, and the snapshot with the records. Reports the first problem. Writes nothing. Rejects with `SessionUnknown`, and with other errors of the log that are not a
 * problem of its content.
 */
export async function verifySession(log: EventLog, id: string): Promise<VerifyReport> {
  try {
    const session = await sessionLog(log, id);
    // The snapshot is read first, so that the records that confirm it are among those read after it.
    const snapshot = await session.snapshot();
    const { records, damage, unfinishedBytes } = await session.inspect();
    const { differing, snapshotProblem, foldedByOtherRules } = await problemsIn(
      session.header,
      records,
      snapshot,
    );
    if (differing !== undefined) return differing;
    if (damage !== undefined) throw damage;
    const { seq, digest } = records.at(-1) ?? chainStart(session.header);
    return snapshotProblem ?? { ok: true, seq, digest, unfinishedBytes, foldedByOtherRules };
  } catch (error) {
    const report = error instanceof LogError || error instanceof SessionError ? reportOf(error) : undefined;
    if (report === undefined) throw error;
    return report;
  }
}

interface Problems {
  /** The first record that changes the state in another way than when it was written, by the same rules. */
  readonly differing?: Problem;
  readonly snapshotProblem?: Problem | undefined;
  readonly foldedByOtherRules: number;
}

async function problemsIn(
  header: string,
  records: readonly LogRecord[],
  snapshot: Snapshot | undefined,
): Promise<Problems> {
  const replay = beginReplay(headerToState(textToHeader(header)), { changes: true });
  let snapshotProblem = snapshot && findSnapshotProblem(snapshot, records);
  let foldedByOtherRules = 0;
  let differing: Problem | undefined;
  await inTurns(records, (record) => {
    if (differing !== undefined) return;
    const { seq, changesDigest: expected } = record;
    const input = recordToInput(record);
    const changes = replay.apply(input)?.changes ?? [];
    const check = checkChanges(record, changes);
    if (check === "other-rules") foldedByOtherRules += 1;
    if (check === "differs") {
      const found = digestOfChanges(changes);
      const message = `Record ${seq}, ${input.type}, changes the state in another way than when it was written.`;
      differing = { ok: false, seq, reason: "differs", message, input, expected, found, changes };
    } else if (seq === snapshot?.seq && !matches(snapshot, replay.state()))
      snapshotProblem ??= badSnapshot(seq, "differs from the state that the records lead to");
  });
  return differing === undefined
    ? { snapshotProblem, foldedByOtherRules }
    : { differing, foldedByOtherRules };
}

/** The problem of a snapshot that does not belong to the records, regardless of its state. */
function findSnapshotProblem(snapshot: Snapshot, records: readonly LogRecord[]): Problem | undefined {
  const { seq, digest } = snapshot;
  if (seq > records.length) {
    const message = `The log ends after record ${records.length}, but there is a snapshot of record ${seq}.`;
    return { ok: false, seq: records.length + 1, reason: "damaged", message };
  }
  if (records[seq - 1]?.digest !== digest) return badSnapshot(seq, "belongs to another log");
  if (isConfirmed(snapshot, records)) return undefined;
  return badSnapshot(
    seq,
    "is not confirmed by a later record: it is forged, or the end of the log is missing",
  );
}

const badSnapshot = (seq: number, what: string): Problem => ({
  ok: false,
  seq,
  reason: "snapshot",
  message: `The snapshot of record ${seq} ${what}.`,
});

/** Whether a snapshot contains the state. The snapshot of another release is not compared. */
const matches = ({ version, body, bodyDigest }: Snapshot, state: AgentState): boolean =>
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
