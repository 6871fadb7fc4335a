export type { RestateOptions } from "./options.ts";
export { restateServices, type RestateServices } from "./services.ts";
export {
  restateSession,
  type RestateSession,
  type SessionOptions,
  type CurrentSession,
} from "./restate-session.ts";
export { RestateFailure } from "./ingress.ts";
export { restateLog, type RestateLogOptions } from "./restate-log.ts";
