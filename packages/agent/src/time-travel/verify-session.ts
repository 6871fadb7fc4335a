import { beginReplay, type AgentChange, type AgentInput } from "@moora/agent-core-state-machine";
import { chainStart, LogError, type EventLog, type LogRecord } from "@moora/event-log";
import { SessionError } from "../durable/session-error.ts";
import { headerToState, textToHeader } from "../durable/session-header.ts";
import { changesDigest, recordToInput } from "../durable/session-record.ts";
import { sessionLog } from "./read-session.ts";

/** What a verification found. `seq` is the last good record, or the first bad one. */
export type VerifyReport =
  | { readonly ok: true; readonly seq: number; readonly digest: string }
  | {
      readonly ok: false;
      readonly seq: number;
      /** The bytes are damaged; a newer release wrote it; or the fold did something else than when it was written. */
      readonly reason: "damaged" | "unsupported" | "differs";
      readonly message: string;
      readonly input?: AgentInput;
      /** The digest of what the input changed: when it was written, and now. */
      readonly expected?: string;
      readonly found?: string;
      /** What the input changes now. */
      readonly changes?: readonly AgentChange[];
    };

/**
 * Replays a session and holds every record against its digest. Names the first record that is not what it was. Rejects
 * with `SessionUnknown`, and with what keeps the log from being read at all.
 */
export async function verifySession(log: EventLog, id: string): Promise<VerifyReport> {
  try {
    const session = await sessionLog(log, id);
    return verified(session.header, await session.read());
  } catch (error) {
    const report = error instanceof LogError || error instanceof SessionError ? reportOf(error) : undefined;
    if (report === undefined) throw error;
    return report;
  }
}

function verified(header: string, records: readonly LogRecord[]): VerifyReport {
  const replay = beginReplay(headerToState(textToHeader(header)), { changes: true });
  for (const record of records) {
    const { seq, changed: expected } = record;
    const input = recordToInput(record);
    const changes = replay.apply(input)?.changes ?? [];
    const found = changesDigest(changes);
    if (found === expected) continue;
    const message = `Record ${seq}, ${input.type}, does not change what it changed when it was written.`;
    return { ok: false, seq, reason: "differs", message, input, expected, found, changes };
  }
  const { seq, digest } = records.at(-1) ?? chainStart(header);
  return { ok: true, seq, digest };
}

const reasons: Readonly<Record<string, "damaged" | "unsupported">> = {
  LogCorrupt: "damaged",
  UnsupportedVersion: "unsupported",
};

function reportOf({ code, message, seq = 0 }: LogError | SessionError): VerifyReport | undefined {
  const reason = reasons[code];
  return reason && { ok: false, seq, reason, message };
}
