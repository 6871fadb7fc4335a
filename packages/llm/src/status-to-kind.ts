import type { LlmFailureKind } from "./outcome.ts";

const kinds: Readonly<Record<number, LlmFailureKind>> = {
  401: "auth",
  402: "billing",
  403: "auth",
  407: "auth",
  408: "server",
  409: "server",
  413: "context-length",
  425: "server",
  429: "rate-limit",
  529: "overloaded",
};

/** The kind of a failure by its HTTP status, for responses without a known error code. */
export const statusToKind = (status: number): LlmFailureKind =>
  kinds[status] ?? (status >= 500 ? "server" : "invalid-request");
