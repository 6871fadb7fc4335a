import type { LlmFinish, LlmOutcome, LlmUsage } from "@moora/llm";
import {
  countsToUsage,
  defined,
  emptyMessage,
  errorToFailure,
  failedOutcome,
  failureOf,
  hasContent,
  laterCounts,
  logprobsToConfidence,
  usageFields,
  type AnswerReader,
  type ReaderContext,
  type ReportedCounts,
} from "@moora/llm/adapter";
import type {
  Response,
  ResponseCreateParamsStreaming,
  ResponseOutputItem,
  ResponseOutputItemDoneEvent,
  ResponseStreamEvent,
  ResponseUsage,
} from "openai/resources/responses/responses";
import { itemToPart, summarySeparator } from "./item-to-part.ts";

/** The status of a response by its last event. */
const endings = {
  "response.completed": "completed",
  "response.incomplete": "incomplete",
  "response.failed": "failed",
} as const;

/** Assembles a response from its events. */
export class OpenAiReader implements AnswerReader<ResponseCreateParamsStreaming, ResponseStreamEvent> {
  readonly #context: ReaderContext;
  /** The indexes of items that have started, and items that are complete: some servers give several of them one index. */
  readonly #startedItems = new Set<number>();
  readonly #finishedItems = new Map<string, ResponseOutputItemDoneEvent>();
  #text = "";
  #refusal = "";
  #response: Response | undefined;
  /** What events have reported so far. Most servers report the usage with the last event. */
  #counts: ReportedCounts = {};

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  add(event: ResponseStreamEvent): boolean {
    const { feed, normalized } = this.#context;
    // The protocol has many other events and new ones are added. They are not needed here.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case "response.output_text.delta":
        this.#text += event.delta;
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
        this.#report(event.response.usage);
        return false;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        this.#report(event.response.usage);
        // Some servers leave out the status, which the type of the event determines, too.
        this.#response = { ...event.response, status: event.response.status ?? endings[event.type] };
        return true;
      default:
        return false;
    }
  }

  partial(): string {
    return this.#text;
  }

  usage(): LlmUsage | undefined {
    return countsToUsage(this.#counts);
  }

  #report(usage: ResponseUsage | null | undefined): void {
    if (usage) this.#counts = laterCounts(this.#counts, toCounts(usage));
  }

  outcome(): LlmOutcome {
    const response = this.#response;
    if (!response) return this.#failed("interrupted", "The response is incomplete.");
    if (response.status === "failed") {
      return failedOutcome(
        errorToFailure(errorOf(response), this.#context.failure),
        this.#text,
        this.usage(),
      );
    }
    const reason = response.incomplete_details?.reason;
    if (reason === "content_filter")
      return this.#failed("content-filter", "A content filter stopped the answer.", reason);
    const items = this.#items(response);
    if (!items) return this.#failed("malformed", "The response ended before all of its items.");
    const refusal = this.#refusalIn(items);
    if (refusal !== undefined) return this.#failed("refusal", refusal, "refusal");
    return this.#success(response, items);
  }

  #success(response: Response, items: readonly ResponseOutputItem[]): LlmOutcome {
    const { origin, normalized } = this.#context;
    const parts = items.map((item) => itemToPart(item, normalized.nameOf));
    const hasCalls = parts.some((part) => part.type === "tool-call");
    const finish = finishOf(response, hasCalls);
    if (!hasContent(parts)) return this.#failed("empty", emptyMessage(finish));
    return {
      ok: true,
      turn: { origin, parts: parts.filter((part) => part.type !== "text" || part.text !== "") },
      model: response.model,
      ...usageFields(this.#counts),
      ...defined({ confidence: confidenceOf(items) }),
      finish,
    };
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

  #failed(kind: Parameters<typeof failureOf>[0], message: string, raw?: string): LlmOutcome {
    return failedOutcome(failureOf(kind, message, defined({ raw })), this.#text, this.usage());
  }
}

const errorOf = ({ error }: Response): { error: { code: string; message: string } } | undefined =>
  error ? { error: { code: error.code, message: error.message } } : undefined;

function finishOf(response: Response, hasCalls: boolean): LlmFinish {
  const raw = response.incomplete_details?.reason ?? response.status ?? "";
  if (response.status === "incomplete") return { unified: "length", raw };
  if (raw !== "completed") return { unified: "other", raw };
  return { unified: hasCalls ? "tool-calls" : "stop", raw };
}

const toCounts = (usage: ResponseUsage): ReportedCounts => ({
  inputTokens: usage.input_tokens,
  // Compatible servers may leave out the details.
  cachedInputTokens: usage.input_tokens_details?.cached_tokens,
  cacheWriteTokens: usage.input_tokens_details?.cache_write_tokens,
  outputTokens: usage.output_tokens,
  reasoningTokens: usage.output_tokens_details?.reasoning_tokens,
});

const confidenceOf = (items: readonly ResponseOutputItem[]): number | undefined =>
  logprobsToConfidence(
    items
      .flatMap((item) => (item.type === "message" ? item.content : []))
      .flatMap((piece) => (piece.type === "output_text" ? (piece.logprobs ?? []) : []))
      .map(({ logprob }) => logprob),
  );
