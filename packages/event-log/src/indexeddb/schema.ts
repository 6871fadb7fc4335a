import type { Snapshot } from "../port.ts";

/**
 * The format of the stores, which is the version of the database: a browser refuses to open a newer one. 1: without `blobs`, which
 * the first opening by this release adds.
 */
export const format = 2;

/** A row of the store `sessions`: one generation of an id. The number of a generation is random. */
export interface SessionRow {
  readonly generation: number;
  readonly id: string;
  readonly header: string;
}

/** A row of the store `heads`: the last record of a session, and what changes with it. */
export interface HeadRow {
  readonly generation: number;
  readonly id: string;
  readonly seq: number;
  readonly digest: string;
  /** When the work of the session continues; null if only new records can continue it. A row with null is not in the index `due`. */
  readonly due: number | null;
  readonly lease: { readonly owner: string; readonly until: number } | null;
}

/** A row of the store `records`. */
export interface RecordRow {
  readonly generation: number;
  readonly seq: number;
  readonly body: string;
  readonly changesDigest: string;
  readonly digest: string;
}

/** A row of the store `snapshots`. `seal` covers the other fields. */
export interface SnapshotRow extends Snapshot {
  readonly generation: number;
  readonly seal: string;
}

/** A row of the store `blobs`: bytes by their digest. */
export interface BlobRow {
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** The rows of each object store. */
export interface Stores {
  readonly sessions: SessionRow;
  readonly heads: HeadRow;
  readonly records: RecordRow;
  readonly snapshots: SnapshotRow;
  readonly blobs: BlobRow;
}

export type StoreName = keyof Stores;

/** The stores with the rows of sessions, which each format has. */
export const sessionStores: readonly StoreName[] = ["sessions", "heads", "records", "snapshots"];

export const hasStores = ({ objectStoreNames }: IDBDatabase, names: readonly StoreName[]): boolean =>
  names.every((name) => objectStoreNames.contains(name));

/** Creates the stores that a database of an earlier format lacks; 0 is a new database. */
export function createStores(database: IDBDatabase, oldFormat: number): void {
  if (oldFormat < 1) createSessionStores(database);
  if (oldFormat < 2) database.createObjectStore("blobs", { keyPath: "digest" });
}

function createSessionStores(database: IDBDatabase): void {
  const sessions = database.createObjectStore("sessions", { keyPath: "generation" });
  sessions.createIndex("id", "id", { unique: true });
  const heads = database.createObjectStore("heads", { keyPath: "generation" });
  heads.createIndex("due", ["due", "id"]);
  database.createObjectStore("records", { keyPath: ["generation", "seq"] });
  database.createObjectStore("snapshots", { keyPath: "generation" });
}

/** The range of the records of a generation from `seq` on. */
export const recordsFrom = (generation: number, seq: number): IDBKeyRange =>
  IDBKeyRange.bound([generation, seq], [generation, Infinity]);
