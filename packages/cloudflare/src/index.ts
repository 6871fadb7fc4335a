export { durableObjectLog, type DurableObjectLogOptions } from "./durable-object-log.ts";
export type { ObjectSocket, ObjectSql, ObjectState, ObjectStorage, SqlValue } from "./platform.ts";
