import {
  beginReplay,
  type AgentInput,
  type AgentState,
  type ControlMove,
} from "@moora/agent-core-state-machine";
import type { EventLog, LogError, LogRecord, SessionLog } from "@moora/event-log";
import { checkIsLog } from "../check-arguments.ts";
import { SessionError } from "../durable/session-error.ts";
import { headerToState, textToHeader, type SessionHeader } from "../durable/session-header.ts";
import { recordToInput } from "../durable/session-record.ts";

/** The log of a session that must exist. Rejects with `SessionUnknown`, and with `InvalidOption` for what is not a log. */
export async function sessionLog(log: EventLog, id: string): Promise<SessionLog> {
  checkIsLog(log);
  const found = await log.open(id);
  if (found === undefined) throw new SessionError("SessionUnknown", `There is no session ${id}.`);
  return found;
}

/** What a session began with, without reading its records. Rejects with `SessionUnknown`, and for a newer header. */
export const readHeader = async (log: EventLog, id: string): Promise<SessionHeader> =>
  textToHeader((await sessionLog(log, id)).header);

/** A session as it is in its log. */
export interface RecordedSession {
  readonly header: SessionHeader;
  /** The records before the first damage. */
  readonly records: readonly LogRecord[];
  /** The inputs of these records, as far as this release can read them. */
  readonly inputs: readonly AgentInput[];
  /** Why there are fewer inputs than records, if a newer release wrote some. */
  readonly stoppedBy: SessionError | undefined;
  /** `LogCorrupt` naming the first bad record; undefined for a sound log. */
  readonly damage: LogError | undefined;
}

/** Reads a whole session, the chain of its records checked. Rejects with `LogCorrupt`, and for a newer header. */
export async function readSession(log: EventLog, id: string): Promise<RecordedSession> {
  const session = await readSoundPart(log, id);
  if (session.damage !== undefined) throw session.damage;
  return session;
}

/** Reads a session up to its first damage. Rejects with `LogCorrupt` for a damaged header, and for a newer one. */
export async function readSoundPart(log: EventLog, id: string): Promise<RecordedSession> {
  const session = await sessionLog(log, id);
  const { records, damage } = await session.inspect();
  const inputs: AgentInput[] = [];
  let stoppedBy: SessionError | undefined;
  for (const record of records) {
    try {
      inputs.push(recordToInput(record));
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      stoppedBy = error;
      break;
    }
  }
  return { header: textToHeader(session.header), records, inputs, stoppedBy, damage };
}

/** A session at one of its positions, and the walk that led there. */
export interface Position {
  readonly seq: number;
  readonly state: AgentState;
  readonly moves: readonly ControlMove[];
}

/**
 * The state after the first `seq` records; all of them where there are fewer. Rejects for a position that cannot be
 * reached: with `LogCorrupt` behind the first damage, with `UnsupportedVersion` behind the first record of a newer release.
 */
export async function stateAt(log: EventLog, id: string, seq: number = end): Promise<Position> {
  return positionOf(await readSoundPart(log, id), seq);
}

/** The last position of a session. */
export const end: number = Number.MAX_SAFE_INTEGER;

/** The nearest position that exists. Throws `UnsupportedVersion` or `LogCorrupt` for one that cannot be reached. */
export function positionIn({ inputs, records, stoppedBy, damage }: RecordedSession, seq: number): number {
  const nearest = recordsUpTo({ records, damage }, seq);
  if (nearest > inputs.length && stoppedBy !== undefined) throw stoppedBy;
  return nearest;
}

/** How many records there are up to a position. Throws `LogCorrupt` for a position behind the first damage. */
export function recordsUpTo(
  { records, damage }: Pick<RecordedSession, "records" | "damage">,
  seq: number,
): number {
  const wanted = Math.max(0, Math.trunc(seq) || 0);
  if (wanted > records.length && damage !== undefined) throw damage;
  return Math.min(wanted, records.length);
}

export function positionOf(session: RecordedSession, seq: number): Position {
  const replay = beginReplay(headerToState(session.header));
  const until = positionIn(session, seq);
  const moves: ControlMove[] = [];
  for (const input of session.inputs.slice(0, until)) moves.push(...(replay.apply(input)?.moves ?? []));
  return { seq: until, state: replay.state(), moves };
}
