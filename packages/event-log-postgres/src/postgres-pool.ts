/** The rows that a statement returned. */
export interface PostgresResult {
  readonly rows: readonly Record<string, unknown>[];
}

/** A statement that the server plans once for each connection, and knows by its name from then on. */
export interface NamedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** A notification of the server. */
export interface PostgresNotification {
  readonly channel?: string | undefined;
  readonly payload?: string | undefined;
}

/** The part of the `PoolClient` of `pg` that a log uses. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  query(query: NamedQuery): Promise<PostgresResult>;
  on(event: "error" | "end", listener: () => void): unknown;
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  /** Lets the process end while the connection is open. */
  unref?(): void;
  /** Reverses `unref`. */
  ref?(): void;
  /** Returns the connection to the pool, or destroys it if `isBroken` is true. */
  release(isBroken?: boolean): void;
}

/** The part of the `Pool` of `pg` that a log uses. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  on(event: "error", listener: () => void): unknown;
  off(event: "error", listener: () => void): unknown;
  end(): Promise<void>;
}
