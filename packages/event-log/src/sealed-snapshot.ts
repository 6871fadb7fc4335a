import { digestOf } from "./digest.ts";
import type { Snapshot } from "./port.ts";

/** A checksum over the whole of a snapshot: stores keep it beside, since no chain covers a snapshot. */
export const snapshotSeal = (snapshot: Snapshot): string =>
  digestOf(String(snapshot.seq), snapshot.digest, snapshot.version, snapshot.body);
