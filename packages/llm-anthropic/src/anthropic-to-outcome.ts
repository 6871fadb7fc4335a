import type {
  MessageCreateParamsStreaming,
  RawMessageStreamEvent,
  RefusalStopDetails,
  StopReason,
} from "@anthropic-ai/sdk/resources/messages";
import {
  addUsage,
  defined,
  failed,
  failureOf,
  noUsage,
  type AnswerReader,
  type LlmFailureKind,
  type LlmFinish,
  type LlmOutcome,
  type LlmUsage,
  type ReaderContext,
} from "@moora/llm";
import { BlockBuilder } from "./block-builder.ts";
import { blockToPart, type WholeBlock } from "./block-to-part.ts";
import { continued } from "./continued.ts";
import { tokensToUsage, withTokens, type Tokens } from "./tokens-to-usage.ts";

/** How often a turn that pauses is continued before it counts as it stands. */
const longestPause = 16;

/** Puts the events of a message together, and of those that continue it. */
export class AnthropicReader implements AnswerReader<MessageCreateParamsStreaming, RawMessageStreamEvent> {
  readonly #context: ReaderContext;
  /** Blocks of the messages that paused. */
  readonly #earlier: WholeBlock[] = [];
  #blocks = new Map<number, BlockBuilder>();
  #pauses = 0;
  #text = "";
  #model = "";
  #tokens: Tokens | undefined;
  #earlierUsage: LlmUsage | undefined;
  #stopReason: StopReason | null = null;
  #stopDetails: RefusalStopDetails | null | undefined;

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  take(event: RawMessageStreamEvent): boolean {
    // The protocol gets more events; unknown ones say nothing that is needed here.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case "message_start":
        this.#model = event.message.model;
        this.#tokens = event.message.usage;
        return false;
      case "content_block_start":
        this.#begin(event.index, event.content_block);
        return false;
      case "content_block_delta":
        this.#add(event.index, event.delta);
        return false;
      case "content_block_stop":
        this.#at(event.index).isDone = true;
        return false;
      case "message_delta":
        this.#stopReason = event.delta.stop_reason;
        this.#stopDetails = event.delta.stop_details;
        this.#tokens = withTokens(this.#tokens, event.usage ?? {});
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
    return this.#tokens
      ? addUsage(this.#earlierUsage ?? noUsage, tokensToUsage(this.#tokens))
      : this.#earlierUsage;
  }

  continuation(body: MessageCreateParamsStreaming): MessageCreateParamsStreaming | undefined {
    if (this.#stopReason !== "pause_turn" || this.#pauses >= longestPause || !this.#isDone())
      return undefined;
    const blocks = this.#whole();
    const next = continued(
      body,
      blocks.map(({ block }) => block),
      this.#pauses === 0,
    );
    this.#pauses += 1;
    this.#earlier.push(...blocks);
    this.#earlierUsage = this.usage();
    this.#tokens = undefined;
    this.#stopReason = null;
    this.#blocks = new Map();
    return next;
  }

  outcome(): LlmOutcome {
    const reason = this.#stopReason;
    if (reason === "refusal") {
      const { explanation, category } = this.#stopDetails ?? {};
      return this.#failed("refusal", explanation ?? "The model refused to answer.", category ?? reason);
    }
    if (reason === "model_context_window_exceeded") {
      return this.#failed(
        "context-length",
        "The answer did not fit into the model's context window.",
        reason,
      );
    }
    if (reason !== "max_tokens" && !this.#isDone()) {
      return this.#failed("malformed", "The message ended before all of its blocks.");
    }
    const { origin, sendable } = this.#context;
    const parts = [...this.#earlier, ...this.#whole()].map((block) => blockToPart(block, sendable.nameOf));
    const finish = finishOf(reason);
    const isBlank = parts.every(
      (part) => part.type !== "tool-call" && (part.type !== "text" || part.text.trim() === ""),
    );
    if (isBlank && finish.unified !== "length")
      return this.#failed("empty", "The model answered with nothing.");
    return {
      ok: true,
      turn: { origin, parts: parts.filter((part) => part.type !== "text" || part.text !== "") },
      model: this.#model,
      usage: this.usage() ?? noUsage,
      finish,
    };
  }

  #begin(index: number, start: object): void {
    const { feed, sendable } = this.#context;
    const block = new BlockBuilder(start);
    this.#blocks.set(index, block);
    this.#text += block.text;
    feed.text(block.text);
    if (block.type === "tool_use" && "name" in start) feed.toolCall(sendable.nameOf(String(start.name)));
  }

  #add(index: number, delta: Parameters<BlockBuilder["add"]>[0]): void {
    const { feed } = this.#context;
    this.#at(index).add(delta);
    if (delta.type === "text_delta") this.#text += delta.text;
    if (delta.type === "text_delta") feed.text(delta.text);
    if (delta.type === "thinking_delta") feed.reasoning(delta.thinking);
  }

  #at(index: number): BlockBuilder {
    const block = this.#blocks.get(index);
    if (!block) throw new Error(`a piece of block ${index}, which has not begun`);
    return block;
  }

  #isDone(): boolean {
    return [...this.#blocks.values()].every((block) => block.isDone);
  }

  /** In the order of their places, which is that in which they were made. */
  #whole(): readonly WholeBlock[] {
    return [...this.#blocks.entries()].toSorted(([a], [b]) => a - b).map(([, block]) => block.whole());
  }

  #failed(kind: LlmFailureKind, message: string, raw?: string): LlmOutcome {
    return failed(failureOf(kind, message, defined({ raw })), this.#text, this.usage());
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
