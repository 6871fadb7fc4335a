import type { LlmOutcome, LlmUsage } from "@moora/llm";
import {
  OutcomeBuilder,
  errorToFailure,
  failedOutcome,
  logprobsToConfidence,
  type AnswerReader,
  type ReaderContext,
  type UsageFields,
} from "@moora/llm/adapter";
import type {
  Response,
  ResponseCreateParamsStreaming,
  ResponseOutputItem,
  ResponseOutputItemDoneEvent,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import { itemToPart, summarySeparator } from "./item-to-part.ts";

/** The status of a response by its last event. */
const endings = {
  "response.completed": "completed",
  "response.incomplete": "incomplete",
  "response.failed": "failed",
} as const;

const usageFields: UsageFields = {
  inputTokens: "input_tokens",
  cachedInputTokens: "input_tokens_details.cached_tokens",
  cacheWriteTokens: "input_tokens_details.cache_write_tokens",
  outputTokens: "output_tokens",
  reasoningTokens: "output_tokens_details.reasoning_tokens",
};

/** Assembles a response from its events. */
export class OpenAiReader implements AnswerReader<ResponseCreateParamsStreaming, ResponseStreamEvent> {
  readonly #context: ReaderContext;
  /** Most servers report the usage with the last event. */
  readonly #builder: OutcomeBuilder;
  /** The indexes of items that have started, and items that are complete: some servers give several of them one index. */
  readonly #startedItems = new Set<number>();
  readonly #finishedItems = new Map<string, ResponseOutputItemDoneEvent>();
  #refusal = "";
  #response: Response | undefined;

  constructor(context: ReaderContext) {
    this.#context = context;
    this.#builder = new OutcomeBuilder(context, usageFields);
  }

  add(event: ResponseStreamEvent): boolean {
    const { feed, normalized } = this.#context;
    // The protocol has many other events and new ones are added. They are not needed here.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case "response.output_text.delta":
        this.#builder.text += event.delta;
        feed.text(event.delta, event.output_index);
        return false;
      case "response.refusal.delta":
        this.#refusal += event.delta;
        return false;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        feed.reasoning(event.delta, event.output_index);
        return false;
      case "response.reasoning_summary_part.added":
        if (event.summary_index > 0) feed.reasoning(summarySeparator, event.output_index);
        return false;
      case "response.output_item.added":
        this.#startedItems.add(event.output_index);
        if (event.item.type === "function_call")
          feed.toolCall(normalized.nameOf(event.item.name), event.output_index, event.item.call_id);
        return false;
      case "response.function_call_arguments.delta":
        feed.toolArguments(event.delta, event.output_index);
        return false;
      case "response.output_item.done":
        this.#finishedItems.set(`${event.output_index} ${event.item.id ?? ""}`, event);
        feed.endPart(event.output_index);
        return false;
      case "response.created":
      case "response.in_progress":
        this.#builder.report(event.response.usage);
        return false;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        this.#builder.report(event.response.usage);
        // Some servers leave out the status, which the type of the event determines, too.
        this.#response = { ...event.response, status: event.response.status ?? endings[event.type] };
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
    const builder = this.#builder;
    const response = this.#response;
    if (!response) return builder.failed("interrupted", "The response is incomplete.");
    const { status = "", incomplete_details: details, error } = response;
    if (status === "failed") {
      const body = error ? { error: { code: error.code, message: error.message } } : undefined;
      const failure = errorToFailure(body, this.#context.failure);
      return failedOutcome(failure, builder.text, builder.usage());
    }
    const items = this.#items(response);
    const isFiltered = details?.reason === "content_filter";
    if (!items && !isFiltered)
      return builder.failed("malformed", "The response ended before all of its items.");
    const message = isFiltered ? undefined : this.#refusalIn(items ?? []);
    builder.model = response.model;
    return builder.end({
      parts: (items ?? []).map((item) => itemToPart(item, this.#context.normalized.nameOf)),
      raw: message === undefined ? (details?.reason ?? status) : "refusal",
      unknown: status === "incomplete" ? "length" : "other",
      message,
      confidence: logprobsToConfidence(logprobsIn(items ?? [])),
    });
  }

  /**
   * The items in order: those of the last event if it has more of them, as some servers leave them out of it, and others send them nowhere
   * else. Undefined if an item has started and is not complete, unless the response was cut.
   */
  #items(response: Response): readonly ResponseOutputItem[] | undefined {
    const output = response.output ?? [];
    const finished = [...this.#finishedItems.values()].toSorted((a, b) => a.output_index - b.output_index);
    const items = finished.map(({ item }) => item);
    if (output.length > items.length && output.length >= this.#startedItems.size) return output;
    const indexes = new Set(finished.map(({ output_index }) => output_index));
    const isWhole = [...this.#startedItems].every((index) => indexes.has(index));
    return isWhole || response.status === "incomplete" ? items : undefined;
  }

  #refusalIn(items: readonly ResponseOutputItem[]): string | undefined {
    const pieces = items.flatMap((item) => (item.type === "message" ? item.content : []));
    const refusal = pieces.find((piece) => piece.type === "refusal");
    return refusal ? refusal.refusal : this.#refusal === "" ? undefined : this.#refusal;
  }
}

const logprobsIn = (items: readonly ResponseOutputItem[]): readonly number[] =>
  items
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .flatMap((piece) => (piece.type === "output_text" ? (piece.logprobs ?? []) : []))
    .map(({ logprob }) => logprob);
