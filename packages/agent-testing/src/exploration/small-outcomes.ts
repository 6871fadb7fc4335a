import type { AgentConfig, ToolDefinition } from "@moora/agent-core-state-machine";
import type { LlmFailureKind } from "@moora/llm";

/** What a model may return in a small world: an answer, calls of tools by name, or a failure. */
export type SmallOutcome =
  | {
      readonly answer: string;
      /** The reason why the answer does not match the agent's schema. */
      readonly problem?: string;
      readonly confidence?: number;
    }
  | { readonly calls: readonly string[]; readonly confidence?: number }
  | { readonly failure: LlmFailureKind; readonly retryable?: boolean };

/** The data of an agent, which is all that an exploration needs. */
export interface ExploredAgent {
  readonly config: AgentConfig;
  readonly tools: Readonly<Record<string, ToolDefinition>>;
}

/** The possible events of a small world. */
export interface SmallWorld {
  /** What the model may return to each plan. */
  readonly outcomes: readonly SmallOutcome[];
  /** User messages after the first one. */
  readonly messages: number;
  /** Whether hosts may crash and come back. */
  readonly crashes: boolean;
  readonly cancels: boolean;
  /** The tokens that each answer of the model uses; 0 if the agent has no budget of tokens. */
  readonly tokens: number;
}

/** An answer, a call of each tool, of two tools at once, two failures, and what the agent's own limits distinguish. */
export function outcomesFor({ config, tools }: ExploredAgent): readonly SmallOutcome[] {
  const names = Object.keys(tools);
  const answer = "That is the answer to it.".padEnd(config.limits.minAnswerLength, ".");
  return [
    { answer },
    ...(config.limits.minAnswerLength > 0 ? [{ answer: "" }] : []),
    ...(config.answerSchema === null ? [] : [{ answer, problem: "It does not fit." }]),
    ...names.map((name) => ({ calls: [name] })),
    ...(names.length === 0 ? [] : [{ calls: [names[0] ?? "", names.at(-1) ?? ""] }]),
    { failure: "server", retryable: true },
    { failure: "auth" },
  ];
}

/** Half of a budget of tokens, so that the second answer reaches it. */
export function tokensFor({ config: { budget } }: ExploredAgent): number {
  const limits = [budget.maxTokens, budget.maxTotalTokens].filter((limit) => limit !== undefined);
  return limits.length === 0 ? 0 : Math.ceil(Math.min(...limits) / 2);
}
