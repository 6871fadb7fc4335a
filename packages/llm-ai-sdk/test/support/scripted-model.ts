import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";

/** A model that streams these parts, or rejects with an error, and records the options of its calls. */
export function scriptedModel(
  parts: readonly LanguageModelV4StreamPart[] | Error,
  provider: string = "acme.chat",
): LanguageModelV4 & { readonly calls: LanguageModelV4CallOptions[] } {
  const calls: LanguageModelV4CallOptions[] = [];
  return {
    specificationVersion: "v4",
    provider,
    modelId: "model-a",
    supportedUrls: { "image/*": [/^https:/] },
    calls,
    doGenerate: () => Promise.reject(new Error("Answers are always streamed.")),
    doStream: (options) => {
      calls.push(options);
      if (parts instanceof Error) return Promise.reject(parts);
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      return Promise.resolve({ stream });
    },
  };
}

const counts = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };

/** The last part of a stream. */
export const finish = (
  unified: LanguageModelV4FinishReason["unified"] = "stop",
  raw: string | undefined = unified,
): LanguageModelV4StreamPart => ({
  type: "finish",
  finishReason: { unified, raw },
  usage: { inputTokens: counts, outputTokens: { total: 0, text: 0, reasoning: 0 } },
});

/** A text in one block. */
export const textParts = (text: string): readonly LanguageModelV4StreamPart[] => [
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta: text },
  { type: "text-end", id: "0" },
];
