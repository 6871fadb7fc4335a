import type { JsonObject } from "./json.ts";
import type { NormalizedRequest } from "./normalized-request.ts";

/** The last paragraph of the system text for a provider that does not accept the schema of the answer as a field. */
export const answerInstruction = (schema: JsonObject): string =>
  `Your final answer must be one JSON value that fits this JSON Schema. Write only the JSON, without code fences and without any other text.\n${JSON.stringify(schema)}`;

/**
 * Appends the schema of the answer to the system text, for providers, and combinations of fields, that do not accept the
 * schema itself. Returns a request without `answerSchema` unchanged. The result depends on the request alone, so equal
 * requests still result in equal bytes. `name` is the provider's name in the warning.
 */
export function withAnswerInstruction(
  normalized: NormalizedRequest,
  name: string,
  warn: (warning: string) => void,
): NormalizedRequest {
  const { answerSchema, system } = normalized;
  if (answerSchema === undefined) return normalized;
  warn(`answerSchema is part of the system text and not enforced: ${name} does not support it here`);
  const instruction = answerInstruction(answerSchema);
  return { ...normalized, system: system === undefined ? instruction : `${system}\n\n${instruction}` };
}
