import type { Json, LlmFailure, LlmFailureKind } from "@moora/llm";
import { isJsonObject, withWellFormedText } from "@moora/llm/adapter";

/** Words that OpenAI, and servers that speak like it, have beside the common ones. */
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

  // The model called a tool in a form that the server could not read; the next answer may be better.
  tool_use_failed: "malformed",
  json_validate_failed: "malformed",
};

/**
 * The error that an event of a stream carries. The client throws it as an `APIError` without a status; it is recognized
 * by its fields, so that the SDK is loaded by the first call and not by an import.
 */
export function errorToBody(error: unknown): Json | undefined {
  if (!(error instanceof Error && "error" in error && "status" in error)) return undefined;
  const { error: body, status } = error;
  if (status !== undefined) return undefined;
  // It was parsed from JSON, so it is JSON.
  return isJsonObject(body) ? withWellFormedText({ error: body }) : undefined;
}

/** Reasoning that does not decrypt, lacks its company or is not known to the model at all. */
export function rejectsReasoning({ kind, raw, message }: LlmFailure, carriesRaw: boolean): boolean {
  if (kind !== "invalid-request") return false;
  if (/encrypted content is not supported/i.test(message)) return true;
  return carriesRaw && /encrypted|reasoning|\brs_/i.test(`${raw} ${message}`);
}
