import { isJsonObject, withWellFormedText, type JsonObject } from "./json.ts";

/**
 * The body of an error event that the SDK of OpenAI or Anthropic threw; undefined for any other error. The SDKs throw it as
 * an `APIError` without a status. It is recognized by its fields, so that the SDK is loaded at the first call and not at
 * import.
 */
export function sdkErrorBody(error: unknown): JsonObject | undefined {
  if (!(error instanceof Error && "error" in error && "status" in error)) return undefined;
  const { error: body, status } = error;
  // The SDK parsed the body from JSON.
  return status === undefined && isJsonObject(body) ? withWellFormedText(body) : undefined;
}
