export { postgresLog } from "./postgres-log.ts";
export type { PostgresOptions } from "./postgres-log.ts";
export type { NamedQuery, PostgresClient, PostgresPool, PostgresResult } from "./postgres-pool.ts";
export { postgresMemoryStore } from "./postgres-memory-store.ts";
export type { PostgresMemoryStoreOptions } from "./postgres-memory-store.ts";
