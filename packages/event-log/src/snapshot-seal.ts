import { digestOf } from "./digest.ts";
import type { LogNotice, Snapshot } from "./port.ts";

/** The checksum that stores save with a snapshot. It covers the body through `bodyDigest`, so a large body is hashed once. */
export const snapshotSeal = ({ seq, digest, version, bodyDigest }: Omit<Snapshot, "body">): string =>
  digestOf(String(seq), digest, version, bodyDigest);

/** Whether a stored snapshot is the one that was saved with this seal, and its body matches its `bodyDigest`. */
export const isUndamaged = (snapshot: Snapshot, seal: unknown): boolean =>
  seal === snapshotSeal(snapshot) && snapshot.bodyDigest === digestOf(snapshot.body);

/** The stored snapshot of a session. A damaged one is reported, and counts as none. */
export function soundSnapshot(
  id: string,
  snapshot: Snapshot,
  seal: unknown,
  onNotice: (notice: LogNotice) => void,
): Snapshot | undefined {
  if (isUndamaged(snapshot, seal)) return snapshot;
  const droppedBytes = new TextEncoder().encode(snapshot.body).length;
  onNotice({ type: "damaged-snapshot", id, afterSeq: snapshot.seq, droppedBytes });
  return undefined;
}
