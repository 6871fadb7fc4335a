import type { LlmFailureKind, LlmFinish, LlmOutcome, LlmPart, LlmUsage } from "@moora/llm";
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
  laterCounts,
  logprobsToConfidence,
  mediaTypeOf,
  urlToFile,
  usageFields,
  type AnswerReader,
  type ReaderContext,
  type ReportedCounts,
} from "@moora/llm/adapter";
import type {
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
} from "openai/resources/chat/completions";
import { ReasoningDetails } from "./reasoning-details.ts";
import { ToolCallSlots } from "./tool-call-slots.ts";

/** Some servers have names of their own for cached input, and some report the usage in the choice. */
type Usage = NonNullable<ChatCompletionChunk["usage"]> & {
  readonly prompt_cache_hit_tokens?: number;
  readonly cached_tokens?: number;
};
type Choice = ChatCompletionChunk.Choice & { readonly usage?: Usage | null };

/** Assembles a completion from its chunks. */
export class ChatReader implements AnswerReader<ChatCompletionCreateParamsStreaming, ChatCompletionChunk> {
  readonly #context: ReaderContext;
  readonly #reasoningField: string | null;
  readonly #calls = new ToolCallSlots();
  readonly #details = new ReasoningDetails();
  readonly #logprobs: number[] = [];
  readonly #files: LlmPart[] = [];
  #text = "";
  #reasoning = "";
  #refusal = "";
  #model = "";
  #finish: string | undefined;
  #counts: ReportedCounts = {};

  /** `reasoningField`: the field in which the server reads reasoning again; null if it does not. */
  constructor(context: ReaderContext, reasoningField: string | null = null) {
    this.#context = context;
    this.#reasoningField = reasoningField;
  }

  /** A chunk with a finish reason completes the answer; usage follows in a later chunk. */
  add(chunk: ChatCompletionChunk): boolean {
    if (this.#model === "") this.#model = chunk.model ?? "";
    const choice: Choice | undefined = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
    const usage: Usage | null | undefined = chunk.usage ?? choice?.usage;
    if (usage) this.#counts = laterCounts(this.#counts, toCounts(usage));
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
    return this.#text;
  }

  usage(): LlmUsage | undefined {
    return countsToUsage(this.#counts);
  }

  outcome(): LlmOutcome {
    const raw = this.#finish ?? "";
    if (this.#refusal !== "") return this.#failed("refusal", this.#refusal, "refusal");
    const kind = failedFinish(raw);
    if (kind !== undefined) return this.#failed(kind, `The model stopped with ${raw}.`, raw);
    const calls = this.#calls.parts(this.#context.normalized.nameOf);
    if (!calls) return this.#failed("malformed", "A tool call has no name.");
    const finish = finishOf(raw, calls.length > 0);
    const parts = [...this.#textParts(), ...this.#files, ...calls];
    if (!hasContent(parts)) return this.#failed("empty", emptyMessage(finish));

    return {
      ok: true,
      turn: { origin: this.#context.origin, parts },
      model: this.#model,
      ...usageFields(this.#counts),
      ...defined({ confidence: logprobsToConfidence(this.#logprobs) }),
      finish,
    };
  }

  #textParts(): LlmPart[] {
    const parts: LlmPart[] = [];
    const details = this.#details.all();
    const [text, raw] = [this.#reasoning.toWellFormed(), details ?? this.#reasoningField];
    if (text !== "" || details !== undefined) parts.push({ type: "reasoning", text, raw });
    if (this.#text !== "") parts.push({ type: "text", text: this.#text.toWellFormed() });
    return parts;
  }

  #addChoice({ delta, finish_reason, logprobs }: Choice): void {
    const { feed } = this.#context;
    for (const { text, isReasoning } of piecesOf(delta)) {
      if (isReasoning) {
        this.#reasoning += text;
        feed.reasoning(text);
      } else {
        this.#text += text;
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

  #failed(kind: LlmFailureKind, message: string, raw?: string): LlmOutcome {
    const refusedBy = kind === "context-length" ? this.#context.origin : undefined;
    return failedOutcome(failureOf(kind, message, defined({ raw, refusedBy })), this.#text, this.usage());
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

const finishes: ReadonlyMap<string, LlmFinish["unified"]> = new Map([
  ["stop", "stop"],
  ["eos", "stop"],
  ["tool_calls", "tool-calls"],
]);

/** Some servers send `stop` after a tool call. */
function finishOf(raw: string, hasCalls: boolean): LlmFinish {
  const unified = isCutFinish(raw) ? "length" : (finishes.get(raw) ?? "other");
  return { unified: unified === "stop" && hasCalls ? "tool-calls" : unified, raw };
}

const toCounts = (usage: Usage): ReportedCounts => ({
  inputTokens: usage.prompt_tokens,
  cachedInputTokens:
    usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens,
  cacheWriteTokens: usage.prompt_tokens_details?.cache_write_tokens,
  outputTokens: usage.completion_tokens,
  reasoningTokens: usage.completion_tokens_details?.reasoning_tokens,
});
