import type { DueSession, LogInfo, LogRecord, Snapshot } from "./port.ts";

/** A row of a database table: values by column. */
type Row = Readonly<Record<string, unknown>>;

type Decode = (stored: string) => string;

const asStored: Decode = (stored) => stored;

/** Converts a row with the columns `seq`, `body`, `changes_digest` and `digest`; `decode` reverses how texts are stored. */
export const rowToRecord = (row: Row, decode: Decode = asStored): LogRecord => ({
  seq: Number(row["seq"]),
  body: decode(String(row["body"])),
  changesDigest: decode(String(row["changes_digest"])),
  digest: String(row["digest"]),
});

/** Converts a row with the columns `seq`, `digest`, `version`, `body` and `body_digest`. */
export const rowToSnapshot = (row: Row, decode: Decode = asStored): Snapshot => ({
  seq: Number(row["seq"]),
  digest: decode(String(row["digest"])),
  version: decode(String(row["version"])),
  body: decode(String(row["body"])),
  bodyDigest: decode(String(row["body_digest"])),
});

/** Returns sessions in the order that `EventLog.list` requires: by id, in code units. */
export const sortById = <Session extends Pick<LogInfo, "id">>(
  infos: readonly Session[],
): readonly Session[] => infos.toSorted((one, other) => (one.id < other.id ? -1 : 1));

type DueKey = Pick<DueSession, "due" | "id">;

/** Whether a session precedes another one in the order of `EventLog.due`. */
export const isBefore = (one: DueKey, other: DueKey): boolean =>
  one.due === other.due ? one.id < other.id : one.due < other.due;

/** Returns sessions in the order that `EventLog.due` requires. */
export const sortByDue = (sessions: readonly DueSession[]): readonly DueSession[] =>
  sessions.toSorted((one, other) => (isBefore(one, other) ? -1 : 1));
