export type { RestateOptions } from "./options.ts";
export { restateServices, type RestateServices } from "./services.ts";
export { restateSession, type SessionOptions } from "./restate-session.ts";
export type { RestateSession, CurrentSession } from "./session-handle.ts";
export { RestateFailure } from "./ingress.ts";
export { restateLog, type RestateLogOptions } from "./restate-log.ts";
