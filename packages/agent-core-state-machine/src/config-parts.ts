import type { Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";

export const count = z.int().check(z.nonnegative());
export const positive = z.int().check(z.positive());
export const amount = z.number().check(z.nonnegative());

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
