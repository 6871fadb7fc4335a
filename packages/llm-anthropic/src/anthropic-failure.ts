import { APIError } from "@anthropic-ai/sdk";
import { isJsonObject, wellFormed, type Json, type LlmFailure, type LlmFailureKind } from "@moora/llm";

/** Error codes of Anthropic that say more than the broad type beside them. */
export const anthropicWords: Readonly<Record<string, LlmFailureKind>> = {
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

/** The error that an event of a stream carries: the client throws it without a status. */
export function errorToBody(error: unknown): Json | undefined {
  if (!(error instanceof APIError) || error.status !== undefined) return undefined;
  const body: unknown = error.error;
  return isJsonObject(body) ? wellFormed(body) : undefined;
}

/** Thinking whose signature does not verify, or that stands where it may not. */
export const rejectsThinking = ({ kind, message }: LlmFailure, carriesRaw: boolean): boolean =>
  carriesRaw && kind === "invalid-request" && /signature|thinking/i.test(message);
