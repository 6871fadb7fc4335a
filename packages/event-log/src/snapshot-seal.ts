import { digestOf } from "./digest.ts";
import type { Snapshot } from "./port.ts";

/** The checksum that stores save with a snapshot. It covers the body through `bodyDigest`, so a large body is hashed once. */
export const snapshotSeal = ({ seq, digest, version, bodyDigest }: Omit<Snapshot, "body">): string =>
  digestOf(String(seq), digest, version, bodyDigest);

/** Whether a stored snapshot is the one that was saved with this seal, and its body matches its `bodyDigest`. */
export const isUndamaged = (snapshot: Snapshot, seal: unknown): boolean =>
  seal === snapshotSeal(snapshot) && snapshot.bodyDigest === digestOf(snapshot.body);
