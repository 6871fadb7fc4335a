import { isContextDefinition, optionHint, refuse, shownValue } from "@moora/agent-core-effects/internal";
import { checkOptions, isObject, type OptionForms } from "./check-options.ts";
import { configPathOf } from "./config-fields.ts";
import type { AgentOptions } from "./define-agent.ts";

const forms: OptionForms<AgentOptions> = {
  llm: "any",
  tools: "any",
  systemPrompt: "string",
  answer: "any",
  data: "any",
  config: "object",
  states: "object",
  context: "any",
  predicates: "object",
  runLimits: "object",
  prices: "any",
  name: "string",
  version: "string",
};

/** Throws `BuildError` for options of the wrong form: callers without types may pass any value. */
export function checkAgentOptions(options: object): void {
  const hintOf = (name: string, known: readonly string[]): string =>
    agentOptionHint(name, known, Reflect.get(options, name));
  checkOptions("defineAgent", options, forms, { hintOf });
  const { llm, data, context }: { readonly [Name in keyof AgentOptions]?: unknown } = options;
  checkLlm(llm);
  checkData(data);
  checkContextDefinition(context);
}

/** What other libraries call the options. */
const aliases: Readonly<Record<string, string>> = {
  instructions: "systemPrompt",
  system: "systemPrompt",
  model: "llm",
};

function agentOptionHint(name: string, known: readonly string[], given: unknown): string {
  if (name === "model" && typeof given === "string")
    return ` A model is named in its adapter, such as llm: openai(${shownValue(given)}), or in config.models.default.`;
  const path = configPathOf(name);
  if (path === undefined) return optionHint(name, known, aliases);
  const field = path.toReversed().reduce<string>((value, key) => `{ ${key}: ${value} }`, "...");
  return ` It is a field of config: config: ${field}.`;
}

function checkData(data: unknown): void {
  if (data === undefined || (isObject(data) && typeof data["change"] === "function")) return;
  refuse(
    `data was not created by defineData, got ${shownValue(data)}. Define it with defineData({ schema, initial }).`,
  );
}

function checkContextDefinition(context: unknown): void {
  if (context === undefined || isContextDefinition(context)) return;
  refuse(
    `context was not created by defineContext, got ${shownValue(context)}. Name its type with defineContext<...>(); its value is given to openSession.`,
  );
}

function checkLlm(llm: unknown): void {
  const fix = 'Give a model, such as llm: openai("gpt-5.5").';
  if (llm === undefined) return refuse(`llm is missing. ${fix}`);
  const isCaller = typeof llm === "object" && llm !== null && "call" in llm && typeof llm.call === "function";
  if (!isCaller) refuse(`llm must be an LlmCaller, got ${shownValue(llm)}. ${fix}`);
}
