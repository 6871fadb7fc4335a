import type { Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import type { AgentConfigChange } from "./agent-config.ts";
import { jsonSchema } from "./json.ts";
import { priceListSchema } from "./prices.ts";

const count = z.int().check(z.nonnegative());
const positive = z.int().check(z.positive());
const amount = z.number().check(z.nonnegative());

/** How much harm a call can do. Default: `low`. */
export const riskSchema = z.enum(["low", "medium", "high", "critical"]);

/**
 * What may happen to work that a crash interrupted: `safe` and `keyed` run again, `keyed` with the same idempotency key;
 * `once` never does.
 */
export const replaySchema = z.enum(["safe", "keyed", "once"]);

/**
 * When a human is asked before a call runs. `above` asks from that risk upwards, the risk itself included; `predicate`
 * names a function that the host registered, whose answer arrives with each observation.
 */
export const approvalPolicySchema = z.union([
  z.enum(["never", "always"]),
  z.object({ above: riskSchema }),
  z.object({ tools: z.array(z.string()) }),
  z.object({ predicate: z.string() }),
]);

/** The fields of an approval setting: its policy, and when a question is repeated, escalated and expires. */
export const approvalSchema = z.object({
  policy: approvalPolicySchema,
  /** A question without an answer after this time counts as rejected. */
  expiresAfterMs: z.exactOptional(positive),
  /** The interval at which an open question is shown again. */
  remindAfterMs: z.exactOptional(positive),
  /** The time until a question is shown again, once, with `escalated: true`, so that other reviewers can be asked. */
  escalateAfterMs: z.exactOptional(positive),
});

/** The fields of a budget. Costs are in the unit of the price list. */
export const budgetSchema = z.object({
  maxTokens: z.exactOptional(positive),
  maxInputTokens: z.exactOptional(positive),
  maxOutputTokens: z.exactOptional(positive),
  maxCost: z.exactOptional(amount),
  maxTotalTokens: z.exactOptional(positive),
  maxTotalCost: z.exactOptional(amount),
  /** The part of a limit, from 0 to 1, at which the model reads that it has to finish. */
  warnAt: z.exactOptional(amount.check(z.maximum(1))),
});

/** The fields of a control graph. `rows[from][event]` is the state that the event leads to; null removes the row. */
export const graphSchema = z.object({
  states: z.array(z.string()),
  /** The replay policy of the handler of a state, as for tools. Default: `once`. */
  replay: z.exactOptional(z.record(z.string(), replaySchema)),
  rows: z.record(z.string(), z.record(z.string(), z.nullable(z.string()))),
  terminals: z.array(z.string()),
});

/** The fields of `ModelSettings`, which documents them. */
export const settingsSchema = z.object({
  temperature: z.exactOptional(amount),
  maxOutputTokens: z.exactOptional(positive),
  topP: z.exactOptional(z.number().check(z.nonnegative(), z.maximum(1))),
  seed: z.exactOptional(z.int()),
  stop: z.exactOptional(z.array(z.string())),
  reasoningEffort: z.exactOptional(z.enum(["none", "minimal", "low", "medium", "high", "max"])),
  confidence: z.exactOptional(z.boolean()),
  providerOptions: z.exactOptional(z.record(z.string(), z.record(z.string(), jsonSchema))),
  providerTools: z.exactOptional(z.record(z.string(), z.array(z.record(z.string(), jsonSchema)))),
});

/** The groups of `AgentConfig` of which a change gives some fields. */
const groups = {
  limits: z.object({
    maxSteps: positive,
    minAnswerLength: count,
    minConfidence: amount.check(z.maximum(1)),
    maxRepeatedCalls: z.exactOptional(count),
  }),
  retries: z.object({
    maxAnswerRetries: count,
    maxLlmAttempts: positive,
    maxToolAttempts: positive,
    delayMs: count,
    maxDelayMs: count,
  }),
  reflection: z.object({ everyNSteps: count, aboveInputTokens: count }),
  context: z.object({
    maxInputTokens: z.exactOptional(count),
    keepNewest: positive,
    clearToolResultsAbove: z.exactOptional(count),
    summarize: z.boolean(),
  }),
  window: z.object({ initialSize: positive, expandBy: positive }),
  toolCalls: z.object({
    parallel: z.boolean(),
    maxParallel: positive,
    maxPerTurn: positive,
    blacklist: z.array(z.string()),
  }),
};

/** The fields of `AgentConfig`, which documents them. */
const fields = {
  systemPrompt: z.string(),
  taskType: z.string(),
  models: z.record(z.string(), z.string()),
  settings: settingsSchema,
  toolChoice: z.union([z.enum(["auto", "none", "required"]), z.object({ name: z.string() })]),
  answerSchema: z.nullable(z.string()),
  limits: groups.limits,
  retries: groups.retries,
  reflection: groups.reflection,
  window: groups.window,
  toolCalls: groups.toolCalls,
  approval: approvalSchema,
  budget: budgetSchema,
  prices: priceListSchema,
  interjection: z.enum(["queue", "restart", "reject"]),
  showData: z.enum(["never", "changed"]),
  graph: graphSchema,
  /** Absent in configurations of releases that had no plan of the context. */
  context: z.exactOptional(groups.context),
};

/** The names of the fields of a group. */
export const fieldsOfGroup = (group: keyof typeof groups): readonly string[] =>
  Object.keys(groups[group].shape);

/** The schema of a whole configuration. */
export const agentConfigSchema = z.object(fields);

/** How much harm a call of a tool can do. */
export type Risk = z.infer<typeof riskSchema>;
/**
 * Which calls a person has to approve: all, none, those of some tools, those above a risk, or those that a named predicate
 * picks.
 */
export type ApprovalPolicy = Immutable<z.infer<typeof approvalPolicySchema>>;
/** Who is asked before a call runs, and when a question is repeated, escalated and expires. */
export type Approval = Immutable<z.infer<typeof approvalSchema>>;
/** The most that one loop, or the whole conversation, may spend. Costs are in the unit of the price list. */
export type Budget = Immutable<z.infer<typeof budgetSchema>>;
/** The states and rows that a user adds to the control graph. These rows take precedence over the built-in ones. */
export type ControlGraph = Immutable<z.infer<typeof graphSchema>>;

type Shape = Readonly<Record<string, z.ZodMiniType>>;

const withOptionalFields = (shape: Shape) =>
  z.object(Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, z.exactOptional(field)])));

const partialGroups = Object.fromEntries(
  Object.entries(groups).map(([name, group]) => [name, withOptionalFields(group.shape)]),
);

/** The schema of `AgentConfigChange`. The cast keeps the keys of the entries, which `fromEntries` does not type. */
export const agentConfigChangeSchema = withOptionalFields({
  ...fields,
  ...partialGroups,
}) as z.ZodMiniType<AgentConfigChange>;
