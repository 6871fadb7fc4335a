import type {
  AgentConfig,
  AgentState,
  LlmCallFailedInput,
  UsageReport,
} from "@moora/agent-core-state-machine";
import { costAt, priceOf } from "@moora/agent-core-state-machine/internal";
import type { LlmOutcome, LlmUsage } from "@moora/llm";
import { amount, validTokens, withoutZeros } from "./valid-usage.ts";

type CallFailure = LlmCallFailedInput["failure"];

/** What a call used and cost: at the price of the model that answered, else of the one that was asked. */
function pricedUsage(
  { config: { prices } }: AgentState,
  usage: LlmUsage,
  ...models: readonly string[]
): UsageReport {
  const counted = validTokens(usage);
  const price = priceOf(prices, ...models);
  return withoutZeros({ ...counted, cost: price === undefined ? 0 : amount(costAt(price, counted)) });
}

/** The usage of a call, whatever became of it, as far as the provider reported it. */
export const usageOfOutcome = (
  state: AgentState,
  outcome: LlmOutcome,
  asked: string,
): UsageReport | undefined =>
  outcome.usage === undefined
    ? undefined
    : pricedUsage(state, outcome.usage, outcome.ok ? outcome.model : asked, asked);

const limitsCost = ({ budget }: AgentConfig): boolean =>
  budget.maxCost !== undefined || budget.maxTotalCost !== undefined;

/** Why a call must not continue: a cost limit cannot be kept for a model without a price. Undefined where it can. */
export function missingPrice({ config }: AgentState, ...models: readonly string[]): CallFailure | undefined {
  if (!limitsCost(config) || priceOf(config.prices, ...models) !== undefined) return undefined;
  const model = models.find((name) => name !== "");
  const which = model === undefined ? "the model" : `the model ${JSON.stringify(model)}`;
  const message = `The budget limits costs, but ${which} has no price: add it to \`prices\`, or a price named "default".`;
  return { kind: "NoPrice", message, retryable: false };
}
