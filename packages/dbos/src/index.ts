export { dbosHost } from "./dbos-host.ts";
export type { DbosHost, DbosHostOptions, DbosPostOptions } from "./dbos-host.ts";
export type { LockClient, LockPool } from "./take-over.ts";
