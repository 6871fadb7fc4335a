export { postgresLog } from "./postgres-log.ts";
export type { PostgresOptions } from "./postgres-log.ts";
export type { PostgresClient, PostgresPool } from "./postgres-pool.ts";
