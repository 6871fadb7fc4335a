import type { LlmFailureKind } from "./outcome.ts";

/** The kinds of error codes that several providers use. An adapter adds its own. */
export const commonErrorCodes: Readonly<Record<string, LlmFailureKind>> = {
  authentication_error: "auth",
  invalid_api_key: "auth",
  permission_error: "auth",
  permission_denied: "auth",

  insufficient_quota: "billing",
  exceeded_current_quota_error: "billing",
  // Zhipu's number for an account without credit.
  "1113": "billing",
  billing_error: "billing",
  billing_not_active: "billing",
  billing_hard_limit_reached: "billing",

  rate_limit_error: "rate-limit",
  rate_limit_exceeded: "rate-limit",

  overloaded: "overloaded",
  overloaded_error: "overloaded",
  engine_overloaded: "overloaded",
  server_is_overloaded: "overloaded",
  slow_down: "overloaded",

  api_error: "server",
  server_error: "server",
  internal_server_error: "server",
  timeout_error: "server",

  context_length_exceeded: "context-length",
  exceed_context_size_error: "context-length",
  model_context_window_exceeded: "context-length",

  content_filter: "content-filter",
  content_policy_violation: "content-filter",

  invalid_request: "invalid-request",
  invalid_request_error: "invalid-request",
  not_found_error: "invalid-request",
  model_not_found: "invalid-request",
  request_too_large: "context-length",
  string_above_max_length: "context-length",
  array_above_max_length: "context-length",
  "1261": "context-length",
};

/** Errors that several providers report only in the message of a response with status 400 or 413. */
const messagePatterns: readonly (readonly [RegExp, LlmFailureKind])[] = [
  [/\bcontext[ _-]?(length|window|size|limit)\b/i, "context-length"],
  [/\b(prompt|input|conversation)\b.{0,40}\btoo (long|large)\b/i, "context-length"],
  [/\bprompt contains \d+ tokens\b/i, "context-length"],
  [/\btoo many (input |prompt )?tokens\b/i, "context-length"],
  [/\breduce the length of\b/i, "context-length"],
  [/\brequest too large\b/i, "context-length"],
  [/\bmust have less than [\d,]+ tokens\b|\blonger than the maximum (model )?length\b/i, "context-length"],
  [/\binput token count\b.*\bexceeds\b/i, "context-length"],
  [/\b(prompt|(input|prompt) (length|tokens?)( count)?( of)?( [\d,]+)?) exceeds?\b/i, "context-length"],
  [/\b(range of|maximum( allowed)?) (input|prompt) length\b/i, "context-length"],
  [/\bexceeded model token limit\b|\btokens \+ `?max_new_tokens\b/i, "context-length"],
  [/\bcontent (filter|management|filtering|usage) polic(y|ies)\b/i, "content-filter"],
  [/\binput was flagged\b/i, "content-filter"],
  [/\bcredit balance is too low\b/i, "billing"],
];

/** The kind of an error by its message, where its code is not specific; undefined for an unknown message. */
export const errorMessageToKind = (message: string): LlmFailureKind | undefined =>
  messagePatterns.find(([pattern]) => pattern.test(message))?.[1];
