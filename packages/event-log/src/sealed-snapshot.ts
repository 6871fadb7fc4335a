import { digestOf } from "./digest.ts";
import type { Snapshot } from "./port.ts";

/** A checksum over a snapshot that stores keep beside it. It covers the body by its digest, so a large body is hashed once. */
export const snapshotSeal = ({ seq, digest, version, bodyDigest }: Omit<Snapshot, "body">): string =>
  digestOf(String(seq), digest, version, bodyDigest);

/** Whether a stored snapshot is the one that was saved. */
export const isUndamaged = (snapshot: Snapshot, seal: unknown): boolean =>
  seal === snapshotSeal(snapshot) && snapshot.bodyDigest === digestOf(snapshot.body);
