import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { LlmFailureKind, LlmFinish, LlmOutcome, LlmUsage } from "@moora/llm";
import {
  countsToUsage,
  defined,
  emptyMessage,
  failedFinish,
  failedOutcome,
  failureOf,
  hasContent,
  isCutFinish,
  isJsonObject,
  StreamFaultError,
  usageFields,
  withWarnings,
  type AnswerReader,
  type ReaderContext,
  type ReportedCounts,
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

/** Assembles an answer from the stream parts of a model. */
export class AiSdkReader implements AnswerReader<AiSdkBody, Part> {
  readonly #context: ReaderContext;
  readonly #requestedModel: string;
  readonly #parts = new PartList();
  readonly #calls: StreamedCalls;
  readonly #warnings: string[] = [];
  #text = "";
  #hasStarted = false;
  #model: string | undefined;
  #finish: Finish | undefined;

  constructor(context: ReaderContext, requestedModel: string) {
    this.#context = context;
    this.#requestedModel = requestedModel;
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
        this.#model = part.modelId ?? this.#model;
        return false;
      case "text-start":
        this.#startBlock("text", part);
        return false;
      case "text-delta":
        this.#text += part.delta;
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
        if (part.finishReason.unified === "interrupted")
          throw new StreamFaultError({ type: "cut", empty: !this.#hasStarted });
        return true;
      default:
        return false;
    }
  }

  partial(): string {
    return this.#text;
  }

  usage(): LlmUsage | undefined {
    return this.#finish && countsToUsage(countsOf(this.#finish));
  }

  outcome(): LlmOutcome {
    if (!this.#finish) return this.#failed("interrupted", "The answer is incomplete.");
    const { unified, raw = unified } = this.#finish.finishReason;
    if (raw === "refusal") return this.#failed("refusal", "The model refused to answer.", raw);
    if (unified === "content-filter")
      return this.#failed("content-filter", "A content filter stopped the answer.", raw);
    const unknown = unified === "error" ? "server" : undefined;
    const kind = unified === "error" || unified === "other" ? (failedFinish(raw) ?? unknown) : undefined;
    if (kind !== undefined) return this.#failed(kind, `The provider failed: ${raw}.`, raw);
    const parts = this.#parts.build();
    const finish: LlmFinish = {
      unified: isCutFinish(raw) ? "length" : (finishes.get(unified) ?? "other"),
      raw,
    };
    if (!hasContent(parts)) return this.#failed("empty", emptyMessage(finish), raw);

    const outcome: LlmOutcome = {
      ok: true,
      turn: {
        origin: this.#context.origin,
        parts: parts.filter((part) => part.type !== "text" || part.text !== ""),
      },
      model: this.#model ?? this.#requestedModel,
      ...usageFields(countsOf(this.#finish)),
      finish,
    };
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

  #failed(kind: LlmFailureKind, message: string, raw?: string): LlmOutcome {
    const refusedBy = kind === "context-length" ? this.#context.origin : undefined;
    return failedOutcome(failureOf(kind, message, defined({ raw, refusedBy })), this.#text, this.usage());
  }
}

const finishes: ReadonlyMap<string, LlmFinish["unified"]> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["tool-calls", "tool-calls"],
]);

const countsOf = ({ usage: { inputTokens, outputTokens, raw } }: Finish): ReportedCounts => ({
  inputTokens: inputTokens.total,
  cachedInputTokens: inputTokens.cacheRead,
  cacheWriteTokens: inputTokens.cacheWrite,
  outputTokens: outputTokens.total,
  reasoningTokens: outputTokens.reasoning ?? rawReasoningTokens(raw),
});

/** The count of Chat Completions, where the model of the AI SDK does not read it. */
function rawReasoningTokens(raw: Finish["usage"]["raw"]): number | undefined {
  const details = raw?.["completion_tokens_details"];
  const tokens = isJsonObject(details) ? details["reasoning_tokens"] : undefined;
  return typeof tokens === "number" ? tokens : undefined;
}

type Warning = Extract<Part, { readonly type: "stream-start" }>["warnings"][number];

function warningToText(warning: Warning): string {
  if ("message" in warning) return warning.message;
  const details = warning.details === undefined ? "" : `: ${warning.details}`;
  return `${warning.feature} is ${warning.type === "unsupported" ? "not supported" : "emulated"}${details}`;
}
