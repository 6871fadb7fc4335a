import { isJsonObject, type Json, type JsonObject } from "./json.ts";

/** An error that a provider reports. */
export interface VendorError {
  /** The provider's codes and types of the error, the most specific first. */
  readonly codes: readonly string[];
  readonly message: string;
  /** The field of the request that the error is about: `messages[1].content`. */
  readonly field?: string;
  /** An HTTP status inside the body, as gateways send it. */
  readonly status?: number;
  /** How long to wait before the next attempt, in milliseconds. */
  readonly retryAfterMs?: number;
}

/**
 * Reads `{ error: { message, type, code } }`, `{ type: "error", error }`, `{ error: "text" }`, `{ message, code }`,
 * `{ detail }` and a list of any of them. Undefined for a value without an error.
 */
export function jsonToVendorError(body: Json | undefined): VendorError | undefined {
  if (Array.isArray(body)) return jsonToVendorError(body[0]);
  if (!isJsonObject(body)) return undefined;
  const { error, detail, message } = body;
  if (isJsonObject(error)) return fieldsToVendorError(error);
  if (typeof error === "string" && error !== "") return { codes: codesOf(body), message: error };
  if (typeof message === "string" && codesOf(body).length > 0) return fieldsToVendorError(body);
  if (detail === undefined || detail === null) return undefined;
  return { codes: codesOf(body), message: typeof detail === "string" ? detail : JSON.stringify(detail) };
}

function fieldsToVendorError(fields: JsonObject): VendorError {
  const { message, metadata, param } = fields;
  // OpenRouter has the words of the provider behind it among the metadata.
  const words = [message, isJsonObject(metadata) ? metadata["raw"] : ""];
  const retryAfterMs = waitIn(fields["details"]);
  const status = [fields["code"], fields["status"]].map(Number).find((code) => code >= 400 && code <= 599);
  return {
    codes: codesOf(fields),
    message: words.flatMap((text) => (typeof text === "string" && text !== "" ? [text] : [])).join(" "),
    ...(typeof param === "string" && param !== "" && { field: param }),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** The time to wait among the details of Google: `45.8s`. */
function waitIn(details: Json | undefined): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const delay = details.map((detail) => (isJsonObject(detail) ? detail["retryDelay"] : "")).find(Boolean);
  const isSeconds = typeof delay === "string" && /^\d+(\.\d+)?s$/.test(delay);
  return isSeconds ? Math.ceil(Number(delay.slice(0, -1)) * 1000) : undefined;
}

/** Codes and types, the most specific first. A bare `error` is left out. */
function codesOf(fields: JsonObject): readonly string[] {
  const { code, type, status, details, object } = fields;
  // Google lists its details, and one of them has the reason.
  const detailed = isJsonObject(details)
    ? details["error_code"]
    : Array.isArray(details)
      ? details.find((detail) => isJsonObject(detail) && "reason" in detail)?.["reason"]
      : undefined;
  return [detailed, code, type, status, object].filter(
    (name): name is string => typeof name === "string" && name !== "" && name !== "error",
  );
}
