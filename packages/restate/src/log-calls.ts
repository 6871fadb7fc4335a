import { errorText } from "@moora/agent-core-effects/internal";
import { LogError } from "@moora/event-log";
import { RestateFailure, type SessionCall } from "./ingress.ts";
import type { SessionHandlers } from "./session-handlers.ts";

/** How long a log waits for an answer. A call needs a process with the services, and waits on Restate while there is none. */
const longestCallMs = 30_000;

/** Aborts a call that takes too long. */
export const callTimeout = (): AbortSignal => AbortSignal.timeout(longestCallMs);

/** What each handler of the object of a session does with it, in messages. */
const actions: Readonly<Record<keyof SessionHandlers, string>> = {
  post: "post to",
  decide: "decide in",
  create: "create",
  append: "append to",
  remove: "remove",
  report: "report to",
  expire: "report to",
  view: "read",
  part: "read",
  records: "read",
  header: "open",
  head: "read",
};

/** The calls of a log to the objects of sessions, which reject with `LogError`, also without an answer in time. */
export const logCall =
  (call: SessionCall): SessionCall =>
  (id, handler, body) =>
    call(id, handler, body, callTimeout()).catch((cause: unknown) => {
      const message = `Restate could not ${actions[handler]} the session ${JSON.stringify(id)}: ${errorText(cause)}`;
      throw new LogError(isRefusal(cause) ? "InvalidRecord" : "LogWrite", message, { cause });
    });

/** Whether the object has refused what it was called with: it is invalid, or too long. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RestateFailure && [400, 403, 413].includes(error.status ?? 0);
