import type {
  AgentConfig,
  AgentState,
  LlmCallFailedInput,
  UsageReport,
} from "@moora/agent-core-state-machine";
import { costAt, priceOf } from "@moora/agent-core-state-machine/internal";
import { addUsage, type LlmOutcome, type LlmRequest, type LlmUsage } from "@moora/llm";
import { estimateUsage } from "@moora/llm/internal";
import { amount, validTokens, withoutZeros } from "./valid-usage.ts";

type CallFailure = LlmCallFailedInput["failure"];

/** The usage of a call with its cost, at the price of the model that answered, else of the requested one. */
function pricedUsage(
  { config: { prices } }: AgentState,
  usage: LlmUsage,
  ...models: readonly string[]
): UsageReport {
  const counted = validTokens(usage);
  const price = priceOf(prices, ...models);
  return withoutZeros({ ...counted, cost: price === undefined ? 0 : amount(costAt(price, counted)) });
}

/**
 * The usage of a successful or failed call. Of an answer whose usage the provider did not report it is an estimate, which its record says;
 * undefined for a failure without usage.
 */
export function usageOfOutcome(
  state: AgentState,
  outcome: LlmOutcome,
  { asked, request }: { readonly asked: string; readonly request: LlmRequest },
): UsageReport | undefined {
  const { usage } = outcome;
  if (usage === undefined) return undefined;
  if (!outcome.ok) return pricedUsage(state, usage, asked);
  if (outcome.usageMissing !== true) return pricedUsage(state, usage, outcome.model, asked);
  const guessed = addUsage(usage, estimateUsage(request, outcome.turn));
  return { ...pricedUsage(state, guessed, outcome.model, asked), estimated: true };
}

const limitsCost = ({ budget }: AgentConfig): boolean =>
  budget.maxCost !== undefined || budget.maxTotalCost !== undefined;

/** The failure of a call under a cost limit whose model has no price; undefined if there is a price or no such limit. */
export function missingPrice({ config }: AgentState, ...models: readonly string[]): CallFailure | undefined {
  if (!limitsCost(config) || priceOf(config.prices, ...models) !== undefined) return undefined;
  const model = models.find((name) => name !== "");
  const which = model === undefined ? "the model" : `the model ${JSON.stringify(model)}`;
  const message = `The budget limits costs, but ${which} has no price: add it to \`prices\`, or a price named "default".`;
  return { kind: "NoPrice", message, retryable: false };
}
