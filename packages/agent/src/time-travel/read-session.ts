import {
  beginReplay,
  type AgentInput,
  type AgentState,
  type ControlMove,
} from "@moora/agent-core-state-machine";
import type { EventLog, LogError, LogRecord, SessionLog } from "@moora/event-log";
import { checkIsId, checkIsLog, checkIsSeq } from "../check-arguments.ts";
import { inTurns } from "../durable/in-turns.ts";
import { takeInputs } from "../durable/restore.ts";
import { SessionError } from "../durable/session-error.ts";
import { headerToState, textToHeader, type SessionHeader } from "../durable/session-header.ts";

/**
 * Opens the log of an existing session. Rejects with `SessionUnknown`, and with `InvalidOption` for a value that is not
 * a log and for a missing id.
 */
export async function sessionLog(log: EventLog, id: string): Promise<SessionLog> {
  checkIsLog(log);
  checkIsId(id);
  const found = await log.open(id);
  if (found === undefined) throw new SessionError("SessionUnknown", `Session "${id}" not found.`);
  return found;
}

/**
 * Reads the header of a session without its records. Rejects with `SessionUnknown`, and with `UnsupportedVersion` for a
 * header of a newer release.
 */
export const readHeader = async (log: EventLog, id: string): Promise<SessionHeader> =>
  textToHeader((await sessionLog(log, id)).header);

/** The content of a session in its log. */
export interface RecordedSession {
  readonly header: SessionHeader;
  /** The records before the first damage. */
  readonly records: readonly LogRecord[];
  /** The inputs of these records, up to the first one that this release cannot read. */
  readonly inputs: readonly AgentInput[];
  /** The error of the first record that a newer release wrote; undefined if this release can read all records. */
  readonly stoppedBy: SessionError | undefined;
  /** `LogCorrupt` with the first bad record; undefined for an undamaged log. */
  readonly damage: LogError | undefined;
}

/**
 * Reads a whole session and checks the chain of its records. Rejects with `SessionUnknown`, with `LogCorrupt` for any
 * damage, and with `UnsupportedVersion` for a header of a newer release.
 */
export async function readSession(log: EventLog, id: string): Promise<RecordedSession> {
  const session = await readSoundPart(log, id);
  if (session.damage !== undefined) throw session.damage;
  return session;
}

/**
 * Reads a session up to its first damage. Rejects with `SessionUnknown`, with `LogCorrupt` for a damaged header, and
 * with `UnsupportedVersion` for a header of a newer release.
 */
export const readSoundPart = async (log: EventLog, id: string): Promise<RecordedSession> =>
  await soundPartOf(await sessionLog(log, id));

/** Reads an open session up to its first damage. Rejects as `readSoundPart`. */
export async function soundPartOf(session: SessionLog): Promise<RecordedSession> {
  const { records, damage } = await session.inspect();
  const inputs: AgentInput[] = [];
  const stoppedBy = await takeInputs(records, (input) => inputs.push(input));
  return { header: textToHeader(session.header), records, inputs, stoppedBy, damage };
}

/**
 * A position of a session: the number of records before it, the state after them, and the moves in the control graph.
 */
export interface Position {
  readonly seq: number;
  readonly state: AgentState;
  readonly moves: readonly ControlMove[];
}

/**
 * Returns the state after the first `seq` records. Default: after all. Rejects with `SessionUnknown`, with
 * `InvalidOption` for a record that the session does not have, with `LogCorrupt` for a position behind the first damage,
 * and with `UnsupportedVersion` for one behind the first record of a newer release.
 */
export async function stateAt(log: EventLog, id: string, seq: number = end): Promise<Position> {
  return await positionOf(await readSoundPart(log, id), seq);
}

/** Returns the last position of an open session. Rejects as `stateAt`. */
export const lastPositionOf = async (session: SessionLog): Promise<Position> =>
  await positionOf(await soundPartOf(session), end);

/** The last position of a session. */
export const end: number = Number.MAX_SAFE_INTEGER;

/**
 * The number of inputs up to a position. Throws as `recordsUpTo`, and `UnsupportedVersion` behind the first record of a
 * newer release.
 */
export function positionIn({ inputs, records, stoppedBy, damage }: RecordedSession, seq: number): number {
  const count = recordsUpTo({ records, damage }, seq);
  if (count > inputs.length && stoppedBy !== undefined) throw stoppedBy;
  return count;
}

/**
 * The number of records up to a position. Throws `LogCorrupt` for a position behind the first damage, and
 * `InvalidOption`, whose `seq` is the last record, for a record that the session does not have.
 */
export function recordsUpTo(
  { records, damage }: Pick<RecordedSession, "records" | "damage">,
  seq: number,
): number {
  checkIsSeq("seq", seq);
  const last = records.length;
  if (seq <= last) return seq;
  if (damage !== undefined) throw damage;
  if (seq === end) return last;
  const message = `The session has no record ${seq}. ${last === 0 ? "It has none." : `The last one is ${last}.`}`;
  throw new SessionError("InvalidOption", message, { seq: last });
}

export async function positionOf(session: RecordedSession, seq: number): Promise<Position> {
  const replay = beginReplay(headerToState(session.header));
  const until = positionIn(session, seq);
  const moves: ControlMove[] = [];
  await inTurns(session.inputs.slice(0, until), (input) => {
    moves.push(...(replay.apply(input)?.moves ?? []));
  });
  return { seq: until, state: replay.state(), moves };
}
