import * as z from "zod/mini";
import type { AgentConfigChange } from "./agent-config.ts";
import { amount, approvalSchema, budgetSchema, count, graphSchema, positive } from "./config-parts.ts";
import { jsonSchema } from "./json.ts";
import { priceListSchema } from "./prices.ts";

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

/** The fields of `ToolSearch`, which documents them. */
export const toolSearchSchema = z.object({
  always: z.exactOptional(z.array(z.string())),
  maxFound: z.exactOptional(positive),
  keep: z.exactOptional(z.enum(["conversation", "loop"])),
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
  /** After the fields that every configuration has, as a merge puts it. */
  toolSearch: z.exactOptional(z.union([z.boolean(), toolSearchSchema])),
};

/** The names of the fields of a group. */
export const fieldsOfGroup = (group: keyof typeof groups): readonly string[] =>
  Object.keys(groups[group].shape);

/** The schema of a whole configuration. */
export const agentConfigSchema = z.object(fields);

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
