import type { LlmFailureKind } from "@moora/llm";

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
