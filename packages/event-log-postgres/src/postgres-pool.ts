/** What a log needs of a connection: `pg`'s `PoolClient` has it. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  on(event: "error" | "end", listener: () => void): unknown;
  on(event: "notification", listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  /** Lets the process end while the connection is open, and no longer so. */
  unref?(): void;
  ref?(): void;
  /** True destroys the connection. */
  release(isBroken?: boolean): void;
}

/** What a log needs of a pool of connections: `pg`'s `Pool` has it. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  on(event: "error", listener: () => void): unknown;
  off(event: "error", listener: () => void): unknown;
  end(): Promise<void>;
}
