import type { Json, LlmFailure } from "@moora/llm";
import { sdkErrorBody } from "@moora/llm/adapter";

/** The body of an error event, in the form of an error response; undefined for any other error. */
export function errorToBody(error: unknown): Json | undefined {
  const body = sdkErrorBody(error);
  return body && { error: body };
}

/** Whether the model has no reasoning that it could encrypt. */
export const rejectsEncryption = ({ kind, message }: LlmFailure): boolean =>
  kind === "invalid-request" && /encrypted content is not supported/i.test(message);
