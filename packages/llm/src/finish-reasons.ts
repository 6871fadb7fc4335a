import type { LlmFailureKind, LlmFinish } from "./outcome.ts";

/** Finish reasons of failed answers, in the words of several servers. The first match counts. */
const failed: readonly (readonly [RegExp, LlmFailureKind])[] = [
  [/^(content_filter|sensitive)$/, "content-filter"],
  [/^model_context_window_exceeded$/, "context-length"],
  [/^insufficient_system_resource$/, "overloaded"],
  [/malformed/i, "malformed"],
  [/^(network_)?error$|^abort(ed)?$/, "server"],
];

/** How an answer with this finish reason of a provider failed; undefined if it did not, or if the reason is unknown. */
export const failedFinish = (raw: string): LlmFailureKind | undefined =>
  failed.find(([pattern]) => pattern.test(raw))?.[1];

/** Whether an answer was cut off at a token limit, in the words of several servers: its calls must not run. */
export const isCutFinish = (raw: string): boolean => /^((model_)?length|max_(output_)?tokens)$/i.test(raw);

/** The message of the failure `empty`. */
export const emptyMessage = ({ unified }: LlmFinish): string =>
  unified === "length"
    ? "The answer was cut off at the token limit before its first word. Raise maxOutputTokens."
    : "The model sent an empty answer.";
