import { errorText, truncated } from "@moora/agent-core-effects/internal";
import { rootCause } from "@moora/llm/internal";

/** The maximum length of a message of a server in an error. */
const maxLength = 2_000;

/** The message of an error as a sentence: for an error of the transport that of its cause, such as a refused connection. */
export function causeText(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const message = cause instanceof Error ? rootCause(cause).message : errorText(error);
  const text = truncated(message, maxLength).trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
