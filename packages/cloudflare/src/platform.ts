/**
 * The parts of Cloudflare's runtime that this package uses. They are declared here, so that the package compiles and its types
 * work without those of the platform, which differ between projects.
 */

/** A value of a column. */
export type SqlValue = ArrayBuffer | string | number | null;

/** `DurableObjectStorage.sql`. */
export interface ObjectSql {
  exec(query: string, ...bindings: SqlValue[]): { toArray(): Record<string, SqlValue>[] };
}

/** The storage of a Durable Object with the SQLite backend: `DurableObjectStorage`. */
export interface ObjectStorage {
  readonly sql: ObjectSql;
  transactionSync<Value>(work: () => Value): Value;
  /** Resolves when all writes so far are durable. */
  sync(): Promise<void>;
  getAlarm(): Promise<number | null>;
  setAlarm(time: number): Promise<void>;
  deleteAlarm(): Promise<void>;
}

/** A socket of a viewer, which stays open while its object is not in memory. */
export interface ObjectSocket {
  send(message: string): void;
  close(code?: number, reason?: string): void;
  serializeAttachment(value: unknown): void;
  deserializeAttachment(): unknown;
}

/** The state of a Durable Object: `DurableObjectState`. */
export interface ObjectState {
  readonly storage: ObjectStorage;
  // A method, as in the types of the platform: their sockets have more members.
  acceptWebSocket(socket: ObjectSocket): void;
  getWebSockets(): ObjectSocket[];
}
