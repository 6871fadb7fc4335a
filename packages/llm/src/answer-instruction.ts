import type { JsonObject } from "./json.ts";
import type { NormalizedRequest } from "./normalized-request.ts";

/** The end of the system text where the provider does not take the schema of the answer as a field. */
export const answerInstruction = (schema: JsonObject): string =>
  `Your final answer must be one JSON value that fits this JSON Schema. Write only the JSON, without code fences and without any other text.\n${JSON.stringify(schema)}`;

/**
 * The request with the schema of its answer at the end of the system text: for providers, and combinations of fields, that
 * do not take the schema itself. What is sent depends on the request alone, so equal requests stay equal bytes. `name` is
 * the provider in the warning.
 */
export function withAnswerInstruction(
  normalized: NormalizedRequest,
  name: string,
  warn: (warning: string) => void,
): NormalizedRequest {
  const { answerSchema, system } = normalized;
  if (answerSchema === undefined) return normalized;
  warn(`answerSchema is part of the system text and not enforced: ${name} does not take it here`);
  const instruction = answerInstruction(answerSchema);
  return { ...normalized, system: system === undefined ? instruction : `${system}\n\n${instruction}` };
}
