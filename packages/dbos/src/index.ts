export { dbosHost } from "./dbos-host.ts";
export { dbosLog } from "./dbos-log.ts";
export type { DbosLogOptions } from "./dbos-log.ts";
export type { AppendingClient } from "./append-client.ts";
export type { DbosHost } from "./dbos-host.ts";
export type { DbosHostOptions, DbosPostOptions } from "./dbos-options.ts";
export type { LockClient, LockPool } from "./take-over.ts";
