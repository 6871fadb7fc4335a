import {
  contextForm,
  dataForm,
  optionHint,
  required,
  shownValue,
  withMethods,
} from "@moora/agent-core-effects/internal";
import { checkOptions, type OptionForms } from "./check-options.ts";
import { configPathOf } from "./config-fields.ts";
import type { AgentOptions } from "./define-agent.ts";

const forms: OptionForms<AgentOptions> = {
  llm: required({ ...withMethods("a model", "call"), expectation: 'a model, such as openai("gpt-5.5")' }),
  tools: "any",
  systemPrompt: "string",
  answer: "any",
  data: dataForm,
  config: "object",
  states: "object",
  guardrails: "any",
  context: contextForm,
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
