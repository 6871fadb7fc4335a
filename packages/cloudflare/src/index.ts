export { durableObjectLog, type DurableObjectLogOptions } from "./durable-object-log.ts";
export { sessionObject, type SessionObjectClass } from "./session-object.ts";
export type { SessionObject } from "./agent-session-object.ts";
export type { AgentSurroundings, SessionObjectOptions } from "./session-object-options.ts";
export type { ViewerMessage } from "./viewers.ts";
export type { ObjectSocket, ObjectSql, ObjectState, ObjectStorage, SqlValue } from "./platform.ts";
