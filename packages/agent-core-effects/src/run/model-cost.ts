import type {
  AgentConfig,
  AgentState,
  LlmCallFailedInput,
  UsageReport,
} from "@moora/agent-core-state-machine";
import { costAt, priceOf } from "@moora/agent-core-state-machine/internal";
import type { LlmOutcome, LlmRequest, LlmUsage } from "@moora/llm";
import { estimateUsage, isTokenCount } from "@moora/llm/internal";
import { amount, validTokens, withoutZeros } from "./valid-usage.ts";

type CallFailure = LlmCallFailedInput["failure"];

/** The usage of a call with its cost, at the price of a model. */
function pricedUsage({ config: { prices } }: AgentState, counted: LlmUsage, model: string): UsageReport {
  const price = priceOf(prices, model);
  return withoutZeros({ ...counted, cost: price === undefined ? 0 : amount(costAt(price, counted)) });
}

/** The model whose price applies to an outcome: the one that answered, or the requested one if no answer names another. */
export const pricedModel = (outcome: LlmOutcome, asked: string): string =>
  outcome.ok && outcome.model !== "" ? outcome.model : asked;

/**
 * The usage of a successful or failed call. A count of an answer that is missing or invalid is an estimate, which its record says;
 * undefined for a failure without usage.
 */
export function usageOfOutcome(
  state: AgentState,
  outcome: LlmOutcome,
  { asked, request }: { readonly asked: string; readonly request: LlmRequest },
): UsageReport | undefined {
  const { usage } = outcome;
  if (usage === undefined) return undefined;
  const counted = validTokens(usage);
  const model = pricedModel(outcome, asked);
  const missing = outcome.ok ? missingCounts(outcome) : [];
  if (!outcome.ok || missing.length === 0) return pricedUsage(state, counted, model);
  const estimate = estimateUsage(request, outcome.turn);
  const guessed = missing.map((name) => [name, counted[name] + estimate[name]] as const);
  return { ...pricedUsage(state, { ...counted, ...Object.fromEntries(guessed) }, model), estimated: true };
}

/** The counts that every answer has, and that this one does not report. */
const missingCounts = ({
  usage,
  usageMissing,
}: Extract<LlmOutcome, { ok: true }>): readonly ("inputTokens" | "outputTokens")[] =>
  (["inputTokens", "outputTokens"] as const).filter(
    (name) => usageMissing === true || usageMissing === name || !isTokenCount(usage[name]),
  );

const limitsCost = ({ budget }: AgentConfig): boolean =>
  budget.maxCost !== undefined || budget.maxTotalCost !== undefined;

/** The failure of a call under a cost limit whose model has no price; undefined if there is a price or no such limit. */
export function missingPrice({ config }: AgentState, model: string): CallFailure | undefined {
  if (!limitsCost(config) || priceOf(config.prices, model) !== undefined) return undefined;
  const which = model === "" ? "the model" : `the model ${JSON.stringify(model)}`;
  const message = `The budget limits costs, but ${which} has no price: add it to \`prices\`, or a price named "default".`;
  return { kind: "NoPrice", message, retryable: false };
}
