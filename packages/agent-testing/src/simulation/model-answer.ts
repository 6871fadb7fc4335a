import { noUsage, type LlmFailureKind, type LlmOutcome, type LlmPart } from "@moora/llm";
import { simulatedOrigin } from "../laws/request-laws.ts";

import { oversizedText } from "./sim-log.ts";

/** The end of a model call. `arguments` is JSON text; `text` follows the streamed text. */
export interface ModelAnswer {
  readonly kind: ModelAnswerKind;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string; readonly id?: string }[];
  /** Whether the turn begins with signed reasoning. */
  readonly reasoning?: true;
  /** From 0 to 1. */
  readonly confidence?: number;
  readonly failure?: LlmFailureKind;
  readonly retryAfterMs?: number;
}

/** The kinds of model answers; all but `plain` and `calls` are faults that `faults` can leave out. */
export const modelAnswerKinds = [
  "plain",
  "calls",
  "bad-arguments",
  "unknown-tool",
  "internal-call",
  "truncated",
  "low-confidence",
  "empty",
  "hostile-text",
  "huge-text",
  "oversized",
  "failure-retryable",
  "failure-final",
  "refusal",
  "context-length",
  "reject",
] as const;

export type ModelAnswerKind = (typeof modelAnswerKinds)[number];

/** The failures of the kinds that fail, where an answer names no other one. */
const failures: Readonly<Partial<Record<ModelAnswerKind, LlmFailureKind>>> = {
  "failure-retryable": "server",
  "failure-final": "auth",
  refusal: "refusal",
  "context-length": "context-length",
};

/** What a caller reports for an answer; undefined for `reject`, where the call rejects although the port forbids it. */
export function modelAnswerToOutcome(answer: ModelAnswer, streamed: string): LlmOutcome | undefined {
  if (answer.kind === "reject") return undefined;
  const failure = failures[answer.kind];
  return failure === undefined
    ? answerOutcome(answer, streamed)
    : failureOutcome(answer, answer.failure ?? failure, streamed);
}

const textOf = ({ kind, text }: ModelAnswer, streamed: string): string | undefined => {
  if (kind === "huge-text") return "x".repeat(20_000);
  if (kind === "oversized") return oversizedText;
  return kind === "plain" && text !== undefined ? streamed + text : text;
};

function answerOutcome(answer: ModelAnswer, streamed: string): LlmOutcome {
  const text = textOf(answer, streamed);
  const finish = answer.kind === "truncated" ? "length" : "stop";
  const parts: readonly LlmPart[] = [
    ...(answer.reasoning === true ? [reasoning] : []),
    ...(text === undefined ? [] : [{ type: "text", text } as const]),
    ...(answer.calls ?? []).map(
      ({ name, arguments: args, id = "" }) => ({ type: "tool-call", id, name, arguments: args }) as const,
    ),
  ];
  return {
    ok: true,
    turn: { origin: simulatedOrigin, parts },
    model: "simulated",
    usage: { ...noUsage, inputTokens: 100, cachedInputTokens: 10, outputTokens: 20 },
    finish: { unified: finish, raw: finish },
    ...(answer.confidence === undefined ? {} : { confidence: answer.confidence }),
  };
}

const reasoning: LlmPart = { type: "reasoning", text: "Let me see.", raw: { signature: "s" } };

function failureOutcome(
  { kind, retryAfterMs }: ModelAnswer,
  of: LlmFailureKind,
  streamed: string,
): LlmOutcome {
  return {
    ok: false,
    failure: {
      kind: of,
      message: `Simulated: ${of}.`,
      retryable: kind === "failure-retryable",
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
    partial: kind === "context-length" ? "" : streamed,
    usage: { ...noUsage, inputTokens: 50, outputTokens: 5 },
  };
}
