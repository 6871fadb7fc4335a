export { postgresLog } from "./postgres-log.ts";
export type { PostgresOptions } from "./postgres-log.ts";
export type { NamedQuery, PostgresClient, PostgresPool, PostgresResult } from "./postgres-pool.ts";
export { postgresMemory } from "./postgres-memory.ts";
export type { PostgresMemoryOptions } from "./postgres-memory.ts";
