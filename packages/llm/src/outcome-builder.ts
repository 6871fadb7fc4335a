import { failedOutcome, failureOf } from "./failure.ts";
import { hasContent } from "./normalized-request.ts";
import {
  addUsage,
  noUsage,
  type LlmFailureKind,
  type LlmFinish,
  type LlmOutcome,
  type LlmUsage,
} from "./outcome.ts";
import {
  countsToUsage,
  laterCounts,
  missingCount,
  readCounts,
  type ReportedCounts,
  type UsageFields,
} from "./reported-usage.ts";
import type { LlmPart } from "./request.ts";

/** What finish reasons of all APIs mean: how an answer ended, or how it failed. The first row that matches counts. */
const finishRows: readonly (readonly [RegExp, LlmFinish["unified"] | LlmFailureKind])[] = [
  [/^(stop|eos|end_turn|stop_sequence|completed)$/, "stop"],
  [/^(tool_calls|tool-calls|tool_use)$/, "tool-calls"],
  [/^((model_)?length|max_(output_)?tokens)$/i, "length"],
  [/^(content[_-]filter|sensitive)$/, "content-filter"],
  [/^refusal$/, "refusal"],
  [/^model_context_window_exceeded$/, "context-length"],
  [/^insufficient_system_resource$/, "overloaded"],
  [/malformed/i, "malformed"],
  [/^(network_)?error$|^abort(ed)?$/, "server"],
];

/** What failures say of answers that ended with them, where the provider says nothing. */
const failureMessages: { readonly [kind in LlmFailureKind]?: string } = {
  refusal: "The model refused to answer.",
  "content-filter": "A content filter stopped the answer.",
  "context-length": "The answer exceeds the context window.",
};

/** The end of a complete answer. */
export interface AnswerEnd {
  readonly parts: readonly LlmPart[];
  /** The provider's finish reason. */
  readonly raw: string;
  /** What the reason means, where the provider's library has read it. Only a refusal and a limit of tokens are read in `raw`, too. */
  readonly meaning?: LlmFinish["unified"] | LlmFailureKind | undefined;
  /** What the reason means where it is not a known one. Default: `other`. */
  readonly unknown?: LlmFinish["unified"] | LlmFailureKind;
  /** What the provider says of a failed answer. */
  readonly message?: string | undefined;
  readonly confidence?: number | undefined;
}

/** What all answers have: text, a model, usage and an end. A reader adds the rest. */
export class OutcomeBuilder {
  /** The text so far. */
  text = "";
  /** The model that answers, by the name that the provider reports. */
  model = "";
  readonly #origin: string;
  readonly #fields: UsageFields;
  #counts: ReportedCounts = {};
  #paused: LlmUsage | undefined;

  constructor({ origin }: { readonly origin: string }, fields: UsageFields) {
    this.#origin = origin;
    this.#fields = fields;
  }

  /** Adds a usage in the form of the provider, which replaces earlier ones. */
  report(usage: unknown): void {
    this.#counts = laterCounts(this.#counts, readCounts(usage, this.#fields));
  }

  /** Another request continues the answer: what it reports is added. */
  pause(): void {
    this.#paused = this.usage();
    this.#counts = {};
  }

  /** The usage so far; undefined as long as no event reports it. */
  usage(): LlmUsage | undefined {
    const usage = countsToUsage(this.#counts, this.#fields.isApart);
    return usage === undefined ? this.#paused : addUsage(this.#paused ?? noUsage, usage);
  }

  /** The outcome of an answer that failed, with its text. */
  failed(kind: LlmFailureKind, message: string, raw?: string): LlmOutcome {
    const details = {
      ...(raw !== undefined && { raw }),
      ...(kind === "context-length" && { refusedBy: this.#origin }),
    };
    return failedOutcome(failureOf(kind, message, details), this.text, this.usage());
  }

  /** The outcome of an answer that is complete, by its finish reason. */
  end({ parts, raw, meaning: given, unknown = "other", message, confidence }: AnswerEnd): LlmOutcome {
    const known = finishRows.find(([pattern]) => pattern.test(raw))?.[1];
    const isCertain = known === "refusal" || known === "length";
    const meaning = (isCertain ? known : (given ?? known)) ?? unknown;
    if (!isUnified(meaning)) {
      const said = message ?? failureMessages[meaning] ?? `The model stopped with ${raw}.`;
      return this.failed(meaning, said, raw);
    }
    // Some servers send `stop` after a call.
    const hasCalls = parts.some((part) => part.type === "tool-call");
    const unified = meaning === "stop" && hasCalls ? "tool-calls" : meaning;
    if (!hasContent(parts)) return this.failed("empty", emptyMessage(unified));
    const usageMissing = missingCount(this.#counts);
    return {
      ok: true,
      turn: { origin: this.#origin, parts: parts.filter((part) => part.type !== "text" || part.text !== "") },
      model: this.model,
      usage: this.usage() ?? noUsage,
      ...(usageMissing !== undefined && { usageMissing }),
      ...(confidence !== undefined && { confidence }),
      finish: { unified, raw },
    };
  }
}

const isUnified = (meaning: string): meaning is LlmFinish["unified"] =>
  ["stop", "tool-calls", "length", "other"].includes(meaning);

const emptyMessage = (unified: LlmFinish["unified"]): string =>
  unified === "length"
    ? "The answer was cut off at the token limit before its first word. Raise maxOutputTokens."
    : "The model sent an empty answer.";
