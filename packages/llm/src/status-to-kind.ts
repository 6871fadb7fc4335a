import type { LlmFailureKind } from "./outcome.ts";

const kinds: Readonly<Record<number, LlmFailureKind>> = {
  401: "auth",
  402: "billing",
  403: "auth",
  407: "auth",
  408: "server",
  409: "server",
  425: "server",
  429: "rate-limit",
  529: "overloaded",
};

/** What an HTTP status says where the provider's own words say nothing. */
export const statusToKind = (status: number): LlmFailureKind =>
  kinds[status] ?? (status >= 500 ? "server" : "invalid-request");
