import type {
  MessageCreateParamsStreaming,
  RawMessageStreamEvent,
  RefusalStopDetails,
  StopReason,
  ContentBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import type { JsonObject, LlmOutcome, LlmUsage } from "@moora/llm";
import { OutcomeBuilder, type AnswerReader, type ReaderContext, type UsageFields } from "@moora/llm/adapter";
import { BlockBuilder } from "./block-builder.ts";
import { blockToPart, type CompleteBlock } from "./block-to-part.ts";

/** How often a paused turn is continued. After that, it is returned incomplete. */
const maxContinuations = 16;

const usageFields: UsageFields = {
  inputTokens: "input_tokens",
  cachedInputTokens: "cache_read_input_tokens",
  cacheWriteTokens: "cache_creation_input_tokens",
  outputTokens: "output_tokens",
  reasoningTokens: "output_tokens_details.thinking_tokens",
  isApart: true,
};

/** Assembles a message from its events, and from those of the messages that continue it. */
export class AnthropicReader implements AnswerReader<MessageCreateParamsStreaming, RawMessageStreamEvent> {
  readonly #context: ReaderContext;
  readonly #builder: OutcomeBuilder;
  /** The blocks of paused messages. */
  readonly #pausedBlocks: CompleteBlock[] = [];
  /** In the order in which they start. Some gateways give several blocks one index. */
  #blocks: { readonly index: number; readonly block: BlockBuilder }[] = [];
  #pauses = 0;
  #stopReason: StopReason | null = null;
  #stopDetails: RefusalStopDetails | null | undefined;

  constructor(context: ReaderContext) {
    this.#context = context;
    this.#builder = new OutcomeBuilder(context, usageFields);
  }

  isSignOfLife({ type }: { readonly type: string }): boolean {
    return type === "ping";
  }

  add(event: RawMessageStreamEvent): boolean {
    // New events are added to the protocol. They are not needed here.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case "message_start":
        this.#builder.model = event.message.model;
        this.#builder.report(event.message.usage);
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
        this.#builder.report(event.usage);
        return false;
      case "message_stop":
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
    this.#builder.pause();
    this.#stopReason = null;
    this.#blocks = [];
    return next;
  }

  outcome(): LlmOutcome {
    const raw = this.#stopReason ?? "";
    const { explanation, category } = (raw === "refusal" && this.#stopDetails) || {};
    // A message that was cut, or failed, may end in the middle of a block.
    const mayBeOpen = ["max_tokens", "refusal", "model_context_window_exceeded"].includes(raw);
    if (!mayBeOpen && !this.#isComplete())
      return this.#builder.failed("malformed", "The message ended before all of its blocks.");
    const blocks = [...this.#pausedBlocks, ...this.#completeBlocks()];
    const parts = blocks.map((block) => blockToPart(block, this.#context.normalized.nameOf));
    const outcome = this.#builder.end({ parts, raw, message: explanation ?? undefined });
    return outcome.ok || typeof category !== "string"
      ? outcome
      : { ...outcome, failure: { ...outcome.failure, raw: category } };
  }

  #startBlock(index: number, start: object): void {
    const { feed, normalized } = this.#context;
    const block = new BlockBuilder(start);
    this.#blocks.push({ index, block });
    this.#builder.text += block.text;
    feed.text(block.text, index);
    if (block.type === "tool_use") feed.toolCall(normalized.nameOf(block.name), index, block.id);
  }

  #addDelta(index: number, delta: Parameters<BlockBuilder["add"]>[0]): void {
    const { feed } = this.#context;
    this.#blockAt(index).add(delta);
    if (delta.type === "text_delta") {
      this.#builder.text += delta.text;
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
}

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
