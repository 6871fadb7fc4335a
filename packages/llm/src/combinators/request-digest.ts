import { isJsonObject } from "../json.ts";
import { LlmOptionError } from "../llm-option-error.ts";
import type { LlmRequest } from "../request.ts";

/** The text of a JSON value with sorted keys: equal values have equal texts. Fields that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const fields = Object.keys(value)
    .toSorted()
    .filter((key) => value[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${fields.join(",")}}`;
}

/**
 * The SHA-256 digest of a request to a caller, in hexadecimal. Requests have equal digests if they are equal as JSON and go
 * to the same model of the same caller. Rejects with `LlmOptionError` for a request that is not an object.
 */
export async function requestDigest(
  request: LlmRequest,
  caller: { readonly name: string; readonly model?: string },
): Promise<string> {
  if (!isJsonObject(request))
    throw new LlmOptionError("requestDigest needs a request as its first argument.");
  const model = request.model === "" ? (caller.model ?? "") : request.model;
  const bytes = new TextEncoder().encode(canonicalJson([caller.name, { ...request, model }]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
