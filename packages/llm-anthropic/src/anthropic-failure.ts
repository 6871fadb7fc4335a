import type { Json, LlmFailure, LlmFailureKind } from "@moora/llm";
import { isJsonObject, withWellFormedText } from "@moora/llm/adapter";

/** Error codes of Anthropic that say more than the broad type beside them. */
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
 * The error that an event of a stream carries. The client throws it as an `APIError` without a status; it is recognized
 * by its fields, so that the SDK is loaded by the first call and not by an import.
 */
export function errorToBody(error: unknown): Json | undefined {
  if (!(error instanceof Error && "error" in error && "status" in error)) return undefined;
  const { error: body, status } = error;
  if (status !== undefined) return undefined;
  return isJsonObject(body) ? withWellFormedText(body) : undefined;
}

/** Thinking whose signature does not verify, or that stands where it may not. */
export const rejectsThinking = ({ kind, message }: LlmFailure, carriesRaw: boolean): boolean =>
  carriesRaw && kind === "invalid-request" && /signature|thinking/i.test(message);
