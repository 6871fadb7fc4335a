import type { JsonObject, LlmRequest } from "@moora/llm";

/**
 * The body of a request as JSON. Adapters build bodies of plain JSON, which their own tests verify; converting each one to
 * text and back would double the cost of the check.
 */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const sentBody = (body: object): JsonObject => body as JsonObject;

/** The list of problems from the one answer of a provider. */
export const problemsOf = (refusal: string | undefined): readonly string[] =>
  refusal === undefined ? [] : [refusal];

/** The request without the provider options that a user adds to the body. */
export function withoutProviderOptions(request: LlmRequest): LlmRequest {
  const { providerOptions: _, ...settings } = request.settings;
  return { ...request, model: request.model === "" ? "some-model" : request.model, settings };
}
