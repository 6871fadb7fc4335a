import type { JsonObject, LlmRequest } from "@moora/llm";

/**
 * The body of a request as JSON. Adapters build bodies of plain JSON, which their own tests hold them to; to write each
 * one out and read it again would double the cost of the check.
 */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const sentBody = (body: object): JsonObject => body as JsonObject;

/** A list of what a provider would refuse, from its one answer. */
export const problemsOf = (refusal: string | undefined): readonly string[] =>
  refusal === undefined ? [] : [refusal];

/** A request to some model, without the fields that a user adds to the body for one provider. */
export function withoutProviderOptions(request: LlmRequest): LlmRequest {
  const { providerOptions: _, ...settings } = request.settings;
  return { ...request, model: request.model === "" ? "some-model" : request.model, settings };
}
