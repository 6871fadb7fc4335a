import type { LogInfo, LogRecord, Snapshot } from "./port.ts";

/** A row of a database table, by column. */
type Row = Readonly<Record<string, unknown>>;

type Decode = (stored: string) => string;

const asStored: Decode = (stored) => stored;

/** A record from a row with the columns `seq`, `body`, `changed` and `digest`; `decode` undoes how texts are stored. */
export const rowToRecord = (row: Row, decode: Decode = asStored): LogRecord => ({
  seq: Number(row["seq"]),
  body: decode(String(row["body"])),
  changed: decode(String(row["changed"])),
  digest: String(row["digest"]),
});

/** A snapshot from a row with the columns `seq`, `digest`, `version`, `body` and `body_digest`. */
export const rowToSnapshot = (row: Row, decode: Decode = asStored): Snapshot => ({
  seq: Number(row["seq"]),
  digest: decode(String(row["digest"])),
  version: decode(String(row["version"])),
  body: decode(String(row["body"])),
  bodyDigest: decode(String(row["body_digest"])),
});

/** Sessions in the order of their ids, by code unit. */
export const sortedById = (infos: readonly LogInfo[]): readonly LogInfo[] =>
  infos.toSorted((one, other) => (one.id < other.id ? -1 : 1));
