import { beginReplay, type AgentChange, type AgentInput } from "@moora/agent-core-state-machine";
import { LogError, type EventLog } from "@moora/event-log";
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

/** Replays a session and holds every record against its digest. Names the first record that is not what it was. */
export async function verifySession(log: EventLog, id: string): Promise<VerifyReport> {
  const session = await sessionLog(log, id);
  try {
    const records = await session.read();
    const replay = beginReplay(headerToState(textToHeader(session.header)), { changes: true });
    for (const record of records) {
      const input = recordToInput(record);
      const changes = replay.apply(input)?.changes ?? [];
      const found = changesDigest(changes);
      if (found === record.changed) continue;
      const message = `Record ${record.seq}, ${input.type}, does not change what it changed when it was written.`;
      return {
        ok: false,
        seq: record.seq,
        reason: "differs",
        message,
        input,
        expected: record.changed,
        found,
        changes,
      };
    }
    const last = records.at(-1);
    return { ok: true, seq: last?.seq ?? 0, digest: last?.digest ?? "" };
  } catch (error) {
    if (error instanceof LogError && error.code === "LogCorrupt")
      return { ok: false, seq: error.seq ?? 0, reason: "damaged", message: error.message };
    if (error instanceof SessionError && error.code === "UnsupportedVersion")
      return { ok: false, seq: error.seq ?? 0, reason: "unsupported", message: error.message };
    throw error;
  }
}
