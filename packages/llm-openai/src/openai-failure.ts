import type { Json, LlmFailure, LlmFailureKind } from "@moora/llm";
import { sdkErrorBody } from "@moora/llm/adapter";

/** Error codes of OpenAI and of compatible servers, in addition to the common ones. */
export const openAiErrorCodes: Readonly<Record<string, LlmFailureKind>> = {
  bio_policy: "content-filter",
  cyber_policy: "content-filter",
  image_content_policy_violation: "content-filter",
  invalid_prompt: "content-filter",
  misalignment_policy_violation: "content-filter",

  data_residency_mismatch: "invalid-request",
  invalid_encrypted_content: "invalid-request",
  unsupported_parameter: "invalid-request",
  unsupported_value: "invalid-request",

  vector_store_timeout: "server",

  // The model generated a tool call that the server could not parse. The next answer may be valid.
  tool_use_failed: "malformed",
  json_validate_failed: "malformed",
};

/** The body of an error event, in the form of an error response; undefined for any other error. */
export function errorToBody(error: unknown): Json | undefined {
  const body = sdkErrorBody(error);
  return body && { error: body };
}

/** Whether the model has no reasoning that it could encrypt. */
export const rejectsEncryption = ({ kind, message }: LlmFailure): boolean =>
  kind === "invalid-request" && /encrypted content is not supported/i.test(message);
