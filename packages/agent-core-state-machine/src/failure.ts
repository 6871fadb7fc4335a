import * as z from "zod/mini";

/** The kinds of failed model calls: those of `LlmFailureKind` of `@moora/llm`, which documents them. */
export const modelFailureKinds = [
  "auth",
  "billing",
  "rate-limit",
  "overloaded",
  "server",
  "timeout",
  "connection",
  "interrupted",
  "aborted",
  "invalid-request",
  "context-length",
  "refusal",
  "content-filter",
  "empty",
  "malformed",
  "unknown",
] as const;

/** The kinds of failures of a loop: a limit, the budget, a cancel, an invalid answer, or a guardrail. */
const loopFailureKinds = [
  "MaxSteps",
  "BudgetExceeded",
  "NoPrice",
  "Cancelled",
  "AnswerInvalid",
  "Truncated",
  "NoToolCalls",
  "RepeatedCalls",
  "Blocked",
] as const;

/**
 * Why a loop ended in Error, by its source. `model`: a model call failed. `loop`: the loop itself failed. `graph`: the
 * control graph has no row for an event, or has a cycle. `event`: a custom row leads an event to Error.
 */
export const failureSchema = z.discriminatedUnion("source", [
  z.object({
    source: z.literal("model"),
    kind: z.enum(modelFailureKinds),
    message: z.string(),
    /** When the provider accepts the next request, in milliseconds since 1970, where that was too late for the loop. */
    retryAt: z.exactOptional(z.number()),
  }),
  z.object({ source: z.literal("loop"), kind: z.enum(loopFailureKinds), message: z.string() }),
  z.object({
    source: z.literal("graph"),
    kind: z.enum(["InvalidTransition", "SafetyCapExceeded"]),
    message: z.string(),
    from: z.string(),
    event: z.string(),
  }),
  z.object({
    source: z.literal("event"),
    kind: z.string(),
    message: z.string(),
    from: z.string(),
  }),
]);

/** Why a loop ended in Error. `kind` is stable and for programs, `message` for people. */
export type AgentFailure = z.infer<typeof failureSchema>;

export type LoopFailureKind = (typeof loopFailureKinds)[number];

const loopKinds: ReadonlySet<string> = new Set(loopFailureKinds);

export const isLoopFailureKind = (kind: string): kind is LoopFailureKind => loopKinds.has(kind);

const messages: Partial<Readonly<Record<LoopFailureKind, string>>> = {
  MaxSteps: "The loop reached its limit of model calls.",
  BudgetExceeded: "The budget is spent.",
  Cancelled: "The task was cancelled.",
  RepeatedCalls: "The model has repeated the same calls, with the same results.",
};

/** The failure of a loop that ends by itself. `otherwise` is the message for a kind without a fixed one. */
export const loopFailure = (kind: LoopFailureKind, otherwise = ""): AgentFailure => ({
  source: "loop",
  kind,
  message: messages[kind] ?? otherwise,
});
