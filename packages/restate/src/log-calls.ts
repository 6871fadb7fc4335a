import { errorText } from "@moora/agent-core-effects/internal";
import { LogError } from "@moora/event-log";
import { RestateFailure, type SessionCall } from "./ingress.ts";

/** How long a log waits for an answer. A call needs a process with the services, and waits on Restate while there is none. */
const longestCallMs = 30_000;

/** Aborts a call that takes too long. */
export const callTimeout = (): AbortSignal => AbortSignal.timeout(longestCallMs);

/** What a log changes of a session, by the handler of its object. All others read. */
const actions: Readonly<Record<string, string>> = {
  create: "create",
  append: "append to",
  remove: "remove",
  header: "open",
};

/** The calls of a log to the objects of sessions, which reject with `LogError`, also without an answer in time. */
export const logCall =
  (call: SessionCall): SessionCall =>
  (id, handler, body) =>
    call(id, handler, body, callTimeout()).catch((cause: unknown) => {
      const action = actions[handler] ?? "read";
      const message = `Restate could not ${action} the session ${JSON.stringify(id)}: ${errorText(cause)}`;
      throw new LogError(isRefusal(cause) ? "InvalidRecord" : "LogWrite", message, { cause });
    });

/** Whether the object has refused what it was called with: it is invalid, or too long. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RestateFailure && [400, 403, 413].includes(error.status ?? 0);
