import { isContextDefinition, optionHint, refuse, shownValue } from "@moora/agent-core-effects/internal";
import { isObject } from "./check-options.ts";
import { configPathOf } from "./config-fields.ts";
import type { AgentOptions } from "./define-agent.ts";

/** A row that is missing here does not compile. */
const optionNames: Readonly<Record<keyof AgentOptions, true>> = {
  llm: true,
  tools: true,
  systemPrompt: true,
  answer: true,
  data: true,
  context: true,
  config: true,
  states: true,
  predicates: true,
  runLimits: true,
  prices: true,
  name: true,
  version: true,
};

/** Throws `BuildError` for options of the wrong form: callers without types may pass any value. */
export function checkAgentOptions(options: unknown): void {
  if (!isObject(options))
    return refuse(`defineAgent needs an object of options, got ${shownValue(options)}.`);
  const known = Object.keys(optionNames);
  for (const [name, value] of Object.entries(options))
    if (!known.includes(name)) refuse(`Unknown option "${name}".${agentOptionHint(name, known, value)}`);
  checkLlm(options["llm"]);
  checkData(options["data"]);
  checkContextDefinition(options["context"]);
  for (const name of ["config", "states", "predicates", "runLimits"]) {
    if (options[name] !== undefined && !isObject(options[name]))
      refuse(`${name} must be an object, got ${shownValue(options[name])}.`);
  }
  for (const name of ["systemPrompt", "name", "version"]) {
    if (options[name] !== undefined && typeof options[name] !== "string")
      refuse(`${name} must be a string, got ${shownValue(options[name])}.`);
  }
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
