export { ClientError } from "./client-error.ts";
export type { ClientErrorCode } from "./client-error.ts";
export type { ConnectOptions } from "./connect-options.ts";
export { connectSession } from "./connect-session.ts";
export type { RemoteSessionOf } from "./connect-session.ts";
export type { PendingPost, PostKind } from "./outbox.ts";
export type { Connection, RemoteSession } from "./remote-session.ts";
export type { Fetch, RequestHeaders } from "./server-api.ts";
