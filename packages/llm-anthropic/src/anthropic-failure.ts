import type { Json, LlmFailure, LlmFailureKind } from "@moora/llm";
import { isJsonObject, withWellFormedText } from "@moora/llm/adapter";

/** Error codes of Anthropic that are more specific than the type of the same error. */
export const anthropicErrorCodes: Readonly<Record<string, LlmFailureKind>> = {
  organization_on_hold: "auth",

  contract_spend_limit_reached: "billing",
  enforced_spend_limit_reached: "billing",
  linked_organization_billing_unavailable: "billing",
  linked_organization_spend_limit_reached: "billing",
  user_profile_billing_not_authorized: "billing",
  user_profile_not_billable: "billing",

  ramp_limit_exceeded: "rate-limit",

  cmek_context_unavailable: "server",
  cmek_key_unreachable: "server",
  conflict_error: "server",
};

/**
 * The body of an error event; undefined for any other error. The SDK throws it as an `APIError` without a status. It is
 * recognized by its fields, so that the SDK is loaded at the first call and not at import.
 */
export function errorToBody(error: unknown): Json | undefined {
  if (!(error instanceof Error && "error" in error && "status" in error)) return undefined;
  const { error: body, status } = error;
  if (status !== undefined) return undefined;
  return isJsonObject(body) ? withWellFormedText(body) : undefined;
}

/** Whether the provider rejects the thinking: its signature is invalid, or it is in a wrong position. */
export const rejectsThinking = ({ kind, message }: LlmFailure, carriesRaw: boolean): boolean =>
  carriesRaw && kind === "invalid-request" && /signature|thinking/i.test(message);
