import type { LlmOutcome, LlmPart, LlmUsage } from "@moora/llm";
import {
  OutcomeBuilder,
  isJsonObject,
  logprobsToConfidence,
  mediaTypeOf,
  urlToFile,
  type AnswerReader,
  type ReaderContext,
  type UsageFields,
} from "@moora/llm/adapter";
import type {
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
} from "openai/resources/chat/completions";
import { ReasoningDetails } from "./reasoning-details.ts";
import { ToolCallSlots } from "./tool-call-slots.ts";

/** Some servers report the usage in the choice. */
type Choice = ChatCompletionChunk.Choice & { readonly usage?: object | null };

/** Some servers have names of their own for cached input. */
const usageFields: UsageFields = {
  inputTokens: "prompt_tokens",
  cachedInputTokens: ["prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens"],
  cacheWriteTokens: "prompt_tokens_details.cache_write_tokens",
  outputTokens: "completion_tokens",
  reasoningTokens: "completion_tokens_details.reasoning_tokens",
};

/** Assembles a completion from its chunks. */
export class ChatReader implements AnswerReader<ChatCompletionCreateParamsStreaming, ChatCompletionChunk> {
  readonly #context: ReaderContext;
  readonly #builder: OutcomeBuilder;
  readonly #reasoningField: string | null;
  readonly #calls = new ToolCallSlots();
  readonly #details = new ReasoningDetails();
  readonly #logprobs: number[] = [];
  readonly #files: LlmPart[] = [];
  #reasoning = "";
  #refusal = "";
  #finish: string | undefined;

  /** `reasoningField`: the field in which the server reads reasoning again; null if it does not. */
  constructor(context: ReaderContext, reasoningField: string | null = null) {
    this.#context = context;
    this.#builder = new OutcomeBuilder(context, usageFields);
    this.#reasoningField = reasoningField;
  }

  /** A chunk with a finish reason completes the answer; usage follows in a later chunk. */
  add(chunk: ChatCompletionChunk): boolean {
    this.#builder.model ||= chunk.model ?? "";
    const choice: Choice | undefined = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
    this.#builder.report(chunk.usage ?? choice?.usage);
    if (choice) this.#addChoice(choice);
    return this.#finish !== undefined;
  }

  /** Some servers send chunks with an empty text while the model thinks. */
  isSignOfLife({ choices, usage }: ChatCompletionChunk): boolean {
    const isEmpty = ({ delta, finish_reason }: Choice): boolean =>
      !finish_reason && Object.entries(delta ?? {}).every(([name, value]) => name === "role" || !value);
    return !usage && (choices ?? []).every(isEmpty);
  }

  partial(): string {
    return this.#builder.text;
  }

  usage(): LlmUsage | undefined {
    return this.#builder.usage();
  }

  outcome(): LlmOutcome {
    const calls = this.#calls.parts(this.#context.normalized.nameOf);
    const outcome = this.#builder.end({
      parts: [...this.#textParts(), ...this.#files, ...(calls ?? [])],
      raw: this.#finish ?? "",
      confidence: logprobsToConfidence(this.#logprobs),
      ...(this.#refusal !== "" && { raw: "refusal", message: this.#refusal }),
    });
    const isFailed = !outcome.ok && outcome.failure.kind !== "empty";
    return calls || isFailed ? outcome : this.#builder.failed("malformed", "A tool call has no name.");
  }

  #textParts(): LlmPart[] {
    const parts: LlmPart[] = [];
    const details = this.#details.all();
    const [text, raw] = [this.#reasoning.toWellFormed(), details ?? this.#reasoningField];
    if (text !== "" || details !== undefined) parts.push({ type: "reasoning", text, raw });
    parts.push({ type: "text", text: this.#builder.text.toWellFormed() });
    return parts;
  }

  #addChoice({ delta, finish_reason, logprobs }: Choice): void {
    const { feed } = this.#context;
    for (const { text, isReasoning } of piecesOf(delta)) {
      if (isReasoning) {
        this.#reasoning += text;
        feed.reasoning(text);
      } else {
        this.#builder.text += text;
        feed.text(text);
      }
    }
    this.#details.add(delta);
    this.#files.push(...filesOf(delta));
    this.#refusal += delta?.refusal ?? "";
    for (const call of delta?.tool_calls ?? []) this.#addCall(call);
    this.#logprobs.push(...(logprobs?.content ?? []).map(({ logprob }) => logprob));
    if (finish_reason) this.#finish = finish_reason;
  }

  #addCall(delta: Parameters<ToolCallSlots["add"]>[0]): void {
    const { feed, normalized } = this.#context;
    const call = this.#calls.add(delta);
    if (call === undefined) return;
    if (call.isNew) feed.toolCall(normalized.nameOf(call.name), call.number, call.id);
    feed.toolArguments(call.arguments, call.number);
  }
}

interface Piece {
  readonly text: string;
  readonly isReasoning: boolean;
}

/**
 * The text and the reasoning of a delta. Reasoning is in `reasoning_content`, in `reasoning`, or in items of `content` as
 * `thinking`; the SDK has no types for these fields.
 */
function piecesOf(delta: Choice["delta"] | undefined): readonly Piece[] {
  if (!isJsonObject(delta)) return [];
  const { content } = delta;
  const reasoning = delta["reasoning_content"] ?? delta["reasoning"];
  return [
    ...(typeof reasoning === "string" ? [{ text: reasoning, isReasoning: true }] : []),
    ...(typeof content === "string" ? [{ text: content, isReasoning: false }] : listedPieces(content)),
  ];
}

/** The images of a delta, which some servers send. The SDK has no types for this field. */
function filesOf(delta: Choice["delta"] | undefined): readonly LlmPart[] {
  const images: unknown = isJsonObject(delta) ? delta["images"] : undefined;
  if (!Array.isArray(images)) return [];
  return images.flatMap((image: unknown): readonly LlmPart[] => {
    const source = isJsonObject(image) ? image["image_url"] : undefined;
    const url = isJsonObject(source) ? source["url"] : undefined;
    if (typeof url !== "string" || url === "") return [];
    return [{ type: "file", file: urlToFile({ mediaType: mediaTypeOf(url) ?? "image/png", url }) }];
  });
}

function listedPieces(content: unknown): readonly Piece[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((piece: unknown): readonly Piece[] => {
    if (!isJsonObject(piece)) return [];
    if (typeof piece["text"] === "string") return [{ text: piece["text"], isReasoning: false }];
    return listedPieces(piece["thinking"]).map(({ text }) => ({ text, isReasoning: true }));
  });
}
