import { AgentError } from "@moora/agent-core-effects";
import type { LogError } from "@moora/event-log";
import type { Logger } from "../logger.ts";
import type { SessionInfo } from "./durable-session.ts";
import type { LogWriterOptions } from "./log-writer.ts";
import type { SessionError } from "./session-error.ts";

/** Logs that this process has opened a session. */
export function logOpened(
  logger: Logger,
  { access, owner, seq }: Pick<SessionInfo, "access" | "owner" | "seq">,
): void {
  const message = `The session was opened with access ${access}.`;
  logger.log("session-opened", { message, data: { access, owner, seq } });
}

/** Logs that this process can no longer run or follow a session. */
export function logLost(logger: Logger, error: SessionError | LogError | AgentError): void {
  const reason = error instanceof AgentError ? error.kind : error.code;
  const message = `This process no longer runs or follows the session: ${reason}.`;
  logger.log("session-lost", { message, data: { reason }, error });
}

/** Logs that this process has closed a session. */
export const logClosed = (logger: Logger, seq: number): void =>
  logger.log("session-closed", { message: "The session was closed.", data: { seq } });

/** Logs that an append failed and is tried again. */
export const logAppendRetry = (logger: Logger, error: unknown): void =>
  logger.log("append-retried", { message: "An append failed and is tried again.", error });

/** What a writer logs. */
export const writerLogs = (logger: Logger): Pick<LogWriterOptions, "onRetry" | "onConflict"> => ({
  onRetry: (error) => logAppendRetry(logger, error),
  onConflict: (records) =>
    logger.log("append-conflict", {
      message: "Another process appended first; its records are applied before the append is repeated.",
      data: { records },
    }),
});
