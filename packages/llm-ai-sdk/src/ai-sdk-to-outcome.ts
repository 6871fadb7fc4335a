import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { LlmOutcome, LlmUsage } from "@moora/llm";
import {
  OutcomeBuilder,
  StreamFaultError,
  withWarnings,
  type AnswerReader,
  type ReaderContext,
  type UsageFields,
} from "@moora/llm/adapter";
import { errorToFault } from "./ai-sdk-failure.ts";
import { PartList } from "./part-list.ts";
import { fileToPart, partToOpaque } from "./part-to-opaque.ts";
import type { AiSdkBody } from "./request-to-ai-sdk.ts";
import { StreamedCalls } from "./streamed-calls.ts";

type Part = LanguageModelV4StreamPart;
type Block = "text" | "reasoning";
/** A part of a block of text, of which those of reasoning have the same fields. */
type BlockPart<Type extends Part["type"]> = Omit<Extract<Part, { readonly type: Type }>, "type">;
type Finish = Extract<Part, { readonly type: "finish" }>;

/** The models of the AI SDK do not read the reasoning of every server. */
const usageFields: UsageFields = {
  inputTokens: "inputTokens.total",
  cachedInputTokens: "inputTokens.cacheRead",
  cacheWriteTokens: "inputTokens.cacheWrite",
  outputTokens: "outputTokens.total",
  reasoningTokens: ["outputTokens.reasoning", "raw.completion_tokens_details.reasoning_tokens"],
};

/** Assembles an answer from the stream parts of a model. */
export class AiSdkReader implements AnswerReader<AiSdkBody, Part> {
  readonly #context: ReaderContext;
  readonly #builder: OutcomeBuilder;
  readonly #parts = new PartList();
  readonly #calls: StreamedCalls;
  readonly #warnings: string[] = [];
  #hasStarted = false;
  #finish: Finish | undefined;

  constructor(context: ReaderContext, requestedModel: string) {
    this.#context = context;
    this.#builder = new OutcomeBuilder(context, usageFields);
    this.#builder.model = requestedModel;
    this.#calls = new StreamedCalls(context, this.#parts);
  }

  add(part: Part): boolean {
    this.#hasStarted ||= part.type !== "stream-start" && part.type !== "finish";
    // Parts without a case are not needed: sources, pings, raw chunks, approvals of tools that the provider runs.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (part.type) {
      case "stream-start":
        this.#warnings.push(...part.warnings.map(warningToText));
        return false;
      case "response-metadata":
        this.#builder.model = part.modelId ?? this.#builder.model;
        return false;
      case "text-start":
        this.#startBlock("text", part);
        return false;
      case "text-delta":
        this.#builder.text += part.delta;
        this.#growBlock("text", part);
        return false;
      case "text-end":
        this.#endBlock("text", part);
        return false;
      case "reasoning-start":
        this.#startBlock("reasoning", part);
        return false;
      case "reasoning-delta":
        this.#growBlock("reasoning", part);
        return false;
      case "reasoning-end":
        this.#endBlock("reasoning", part);
        return false;
      case "tool-input-start":
        this.#calls.start(part);
        return false;
      case "tool-input-delta":
        this.#calls.grow(part);
        return false;
      case "tool-call":
        this.#calls.complete(part);
        return false;
      case "file":
        this.#parts.add(fileToPart(part));
        return false;
      case "tool-result":
      case "reasoning-file":
        this.#parts.add(partToOpaque(part));
        return false;
      case "custom":
        // The beginning of a message of Anthropic is not a part of the answer.
        if (!part.kind.endsWith(".message_start")) this.#parts.add(partToOpaque(part));
        return false;
      case "error":
        throw new StreamFaultError(this.#faultOf(part.error));
      case "finish":
        this.#finish = part;
        this.#builder.report(part.usage);
        if (part.finishReason.unified === "interrupted")
          throw new StreamFaultError({ type: "cut", empty: !this.#hasStarted });
        return true;
      default:
        return false;
    }
  }

  partial(): string {
    return this.#builder.text;
  }

  usage(): LlmUsage | undefined {
    return this.#builder.usage();
  }

  outcome(): LlmOutcome {
    if (!this.#finish) return this.#builder.failed("interrupted", "The answer is incomplete.");
    const { unified, raw = unified } = this.#finish.finishReason;
    const outcome = this.#builder.end({
      parts: this.#parts.build(),
      raw,
      meaning: unified === "error" || unified === "other" ? undefined : unified,
      unknown: unified === "error" ? "server" : "other",
    });
    return withWarnings(outcome, ...this.#warnings);
  }

  #startBlock(type: Block, { id, providerMetadata }: BlockPart<"text-start">): void {
    this.#context.feed.endPart(`${type} ${id}`);
    this.#parts.start(type, id, providerMetadata);
  }

  #growBlock(type: Block, { id, delta, providerMetadata }: BlockPart<"text-delta">): void {
    this.#parts.grow(type, id, delta, providerMetadata);
    this.#context.feed[type](delta, `${type} ${id}`);
  }

  #endBlock(type: Block, { id, providerMetadata }: BlockPart<"text-end">): void {
    this.#parts.grow(type, id, "", providerMetadata);
    this.#context.feed.endPart(`${type} ${id}`);
  }

  #faultOf(error: unknown): NonNullable<ReturnType<typeof errorToFault>> {
    return errorToFault(error, true) ?? { type: "unreadable", error };
  }
}

type Warning = Extract<Part, { readonly type: "stream-start" }>["warnings"][number];

function warningToText(warning: Warning): string {
  if ("message" in warning) return warning.message;
  const details = warning.details === undefined ? "" : `: ${warning.details}`;
  return `${warning.feature} is ${warning.type === "unsupported" ? "not supported" : "emulated"}${details}`;
}
