import type {
  MessageCreateParamsStreaming,
  RawMessageStreamEvent,
  RefusalStopDetails,
  StopReason,
  ContentBlockParam,
  MessageDeltaUsage,
  Usage,
} from "@anthropic-ai/sdk/resources/messages";
import {
  addUsage,
  noUsage,
  type LlmFailureKind,
  type LlmFinish,
  type LlmOutcome,
  type LlmUsage,
  type JsonObject,
} from "@moora/llm";
import {
  defined,
  emptyMessage,
  failedOutcome,
  failureOf,
  hasContent,
  laterCounts,
  usageFields,
  type AnswerReader,
  type ReaderContext,
  type ReportedCounts,
  countsToUsage,
} from "@moora/llm/adapter";
import { BlockBuilder } from "./block-builder.ts";
import { blockToPart, type CompleteBlock } from "./block-to-part.ts";

/** How often a paused turn is continued. After that, it is returned incomplete. */
const maxContinuations = 16;

/** Assembles a message from its events, and from those of the messages that continue it. */
export class AnthropicReader implements AnswerReader<MessageCreateParamsStreaming, RawMessageStreamEvent> {
  readonly #context: ReaderContext;
  /** The blocks of paused messages. */
  readonly #pausedBlocks: CompleteBlock[] = [];
  /** In the order in which they start. Some gateways give several blocks one index. */
  #blocks: { readonly index: number; readonly block: BlockBuilder }[] = [];
  #pauses = 0;
  #text = "";
  #model = "";
  #counts: ReportedCounts = {};
  #pausedUsage: LlmUsage | undefined;
  #stopReason: StopReason | null = null;
  #stopDetails: RefusalStopDetails | null | undefined;

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  isSignOfLife({ type }: { readonly type: string }): boolean {
    return type === "ping";
  }

  add(event: RawMessageStreamEvent): boolean {
    // New events are added to the protocol. They are not needed here.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case "message_start":
        this.#model = event.message.model;
        this.#counts = tokensToCounts(event.message.usage ?? {});
        return false;
      case "content_block_start":
        this.#startBlock(event.index, event.content_block);
        return false;
      case "content_block_delta":
        this.#addDelta(event.index, event.delta);
        return false;
      case "content_block_stop":
        this.#blockAt(event.index).isComplete = true;
        this.#context.feed.endPart(event.index);
        return false;
      case "message_delta":
        // Some gateways send an event with the usage alone.
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        this.#stopDetails = event.delta.stop_details ?? this.#stopDetails;
        this.#counts = laterCounts(this.#counts, tokensToCounts(event.usage ?? {}));
        return false;
      case "message_stop":
        return true;
      default:
        return false;
    }
  }

  partial(): string {
    return this.#text;
  }

  usage(): LlmUsage | undefined {
    const usage = separateToUsage(this.#counts);
    return usage === undefined ? this.#pausedUsage : addUsage(this.#pausedUsage ?? noUsage, usage);
  }

  continuation(body: MessageCreateParamsStreaming): MessageCreateParamsStreaming | undefined {
    if (this.#stopReason !== "pause_turn" || this.#pauses >= maxContinuations || !this.#isComplete())
      return undefined;
    const blocks = this.#completeBlocks();
    const next = continueTurn(
      body,
      blocks.map(({ block }) => block),
      this.#pauses === 0,
    );
    this.#pauses += 1;
    this.#pausedBlocks.push(...blocks);
    this.#pausedUsage = this.usage();
    this.#counts = {};
    this.#stopReason = null;
    this.#blocks = [];
    return next;
  }

  outcome(): LlmOutcome {
    const reason = this.#stopReason;
    if (reason === "refusal") {
      const { explanation, category } = this.#stopDetails ?? {};
      return this.#failed("refusal", explanation ?? "The model refused to answer.", category ?? reason);
    }
    if (reason === "model_context_window_exceeded")
      return this.#failed("context-length", "The answer exceeds the context window.", reason);

    if (reason !== "max_tokens" && !this.#isComplete())
      return this.#failed("malformed", "The message ended before all of its blocks.");

    const { origin, normalized } = this.#context;
    const parts = [...this.#pausedBlocks, ...this.#completeBlocks()].map((block) =>
      blockToPart(block, normalized.nameOf),
    );
    const finish = finishOf(reason);
    if (!hasContent(parts)) return this.#failed("empty", emptyMessage(finish));
    return {
      ok: true,
      turn: { origin, parts: parts.filter((part) => part.type !== "text" || part.text !== "") },
      model: this.#model,
      ...usageFields(this.#counts),
      usage: this.usage() ?? noUsage,
      finish,
    };
  }

  #startBlock(index: number, start: object): void {
    const { feed, normalized } = this.#context;
    const block = new BlockBuilder(start);
    this.#blocks.push({ index, block });
    this.#text += block.text;
    feed.text(block.text, index);
    if (block.type === "tool_use") feed.toolCall(normalized.nameOf(block.name), index, block.id);
  }

  #addDelta(index: number, delta: Parameters<BlockBuilder["add"]>[0]): void {
    const { feed } = this.#context;
    this.#blockAt(index).add(delta);
    if (delta.type === "text_delta") {
      this.#text += delta.text;
      feed.text(delta.text, index);
    }
    if (delta.type === "thinking_delta") feed.reasoning(delta.thinking, index);
    if (delta.type === "input_json_delta") feed.toolArguments(delta.partial_json, index);
  }

  #blockAt(index: number): BlockBuilder {
    const started = this.#blocks.findLast((known) => known.index === index);
    if (!started) throw new Error(`Unknown block ${index}.`);
    return started.block;
  }

  #isComplete(): boolean {
    return this.#blocks.every(({ block }) => block.isComplete);
  }

  /** The blocks in the order of their indexes. */
  #completeBlocks(): readonly CompleteBlock[] {
    return this.#blocks.toSorted((a, b) => a.index - b.index).map(({ block }) => block.build());
  }

  #failed(kind: LlmFailureKind, message: string, raw?: string): LlmOutcome {
    const refusedBy = kind === "context-length" ? this.#context.origin : undefined;
    return failedOutcome(failureOf(kind, message, defined({ raw, refusedBy })), this.#text, this.usage());
  }
}

const finishes: ReadonlyMap<string, LlmFinish["unified"]> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool-calls"],
  ["max_tokens", "length"],
]);

const finishOf = (reason: StopReason | null): LlmFinish => ({
  unified: finishes.get(reason ?? "") ?? "other",
  raw: reason ?? "",
});

/** The request that continues a paused turn: the blocks so far are sent back unchanged. */
function continueTurn(
  body: MessageCreateParamsStreaming,
  blocks: readonly JsonObject[],
  isFirst: boolean,
): MessageCreateParamsStreaming {
  // The blocks are from the API, and the SDK has no type for all of them.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const completed = blocks as unknown as ContentBlockParam[];
  const last = body.messages.at(-1);
  if (isFirst || last === undefined || typeof last.content === "string")
    return { ...body, messages: [...body.messages, { role: "assistant", content: completed }] };

  const content = [...last.content, ...completed];
  return { ...body, messages: [...body.messages.slice(0, -1), { role: "assistant", content }] };
}

/** The counts of one event. Gateways leave some of them out. */
const tokensToCounts = (tokens: Partial<Usage | MessageDeltaUsage>): ReportedCounts => ({
  inputTokens: tokens.input_tokens,
  cachedInputTokens: tokens.cache_read_input_tokens,
  cacheWriteTokens: tokens.cache_creation_input_tokens,
  outputTokens: tokens.output_tokens,
  reasoningTokens: tokens.output_tokens_details?.thinking_tokens,
});

/** Converts the API's counts, which are separate for new, cached and cache-written input. */
function separateToUsage(counts: ReportedCounts): LlmUsage | undefined {
  const usage = countsToUsage(counts);
  if (usage === undefined) return undefined;
  const { inputTokens, cachedInputTokens, cacheWriteTokens } = usage;
  return { ...usage, inputTokens: inputTokens + cachedInputTokens + cacheWriteTokens };
}
