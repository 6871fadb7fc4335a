import {
  beginReplay,
  type AgentInput,
  type AgentState,
  type ControlMove,
} from "@moora/agent-core-state-machine";
import type { EventLog, LogRecord, SessionLog } from "@moora/event-log";
import { SessionError } from "../durable/session-error.ts";
import { headerToState, textToHeader, type SessionHeader } from "../durable/session-header.ts";
import { recordToInput } from "../durable/session-record.ts";

/** The log of a session that has to be there. Rejects with `SessionUnknown`. */
export async function sessionLog(log: EventLog, id: string): Promise<SessionLog> {
  const found = await log.open(id);
  if (found === undefined) throw new SessionError("SessionUnknown", `There is no session ${id}.`);
  return found;
}

/** A session as it stands in its log. */
export interface RecordedSession {
  readonly header: SessionHeader;
  readonly records: readonly LogRecord[];
  readonly inputs: readonly AgentInput[];
}

/** Reads a whole session, the chain of its records checked. Rejects with `LogCorrupt` and `UnsupportedVersion`. */
export async function readSession(log: EventLog, id: string): Promise<RecordedSession> {
  const session = await sessionLog(log, id);
  const records = await session.read();
  return { header: textToHeader(session.header), records, inputs: records.map(recordToInput) };
}

/** A session at one of its positions, and the walk that led there. */
export interface Position {
  readonly seq: number;
  readonly state: AgentState;
  readonly moves: readonly ControlMove[];
}

/** The state after the first `seq` records; all of them where there are fewer. */
export async function stateAt(
  log: EventLog,
  id: string,
  seq: number = Number.MAX_SAFE_INTEGER,
): Promise<Position> {
  return positionOf(await readSession(log, id), seq);
}

export function positionOf({ header, inputs }: RecordedSession, seq: number): Position {
  const replay = beginReplay(headerToState(header));
  const until = Math.max(0, Math.min(seq, inputs.length));
  const moves: ControlMove[] = [];
  for (const input of inputs.slice(0, until)) moves.push(...(replay.apply(input)?.moves ?? []));
  return { seq: until, state: replay.state(), moves };
}
