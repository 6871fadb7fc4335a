import { nearest, refuse } from "@moora/agent-core-effects/internal";
import type { AgentConfig } from "@moora/agent-core-state-machine";
import type { LlmCaller } from "@moora/llm";
import { madeOf, type MadeOf } from "@moora/llm/internal";
import { checkName } from "./check-name.ts";

/** What to change instead of a field that the agent makes. */
const hints: Readonly<Record<MadeOf, string>> = {
  tools: "Give config.settings.providerTools, which are offered beside the tools of the agent.",
  systemPrompt: "Give systemPrompt.",
  messages: "They are computed from the conversation.",
  input: "It is computed from the conversation.",
  models: "Give config.models, or the model of the caller.",
  maxOutputTokens: "Give config.settings.maxOutputTokens.",
  toolChoice: "Give config.toolChoice.",
  parallel: "Give config.toolCalls.parallel.",
  stream: "The agent reads one answer, streamed, with its usage.",
};

/** Throws `BuildError` for a field of the request that the agent makes itself. */
export function checkProviderOptions({ settings: { providerOptions = {} } }: AgentConfig): void {
  for (const [provider, fields] of Object.entries(providerOptions)) {
    for (const name of Object.keys(fields)) {
      const made = madeOf(name);
      const place = `config.settings.providerOptions.${provider}.${name}`;
      if (made !== undefined) refuse(`${place} would replace what the agent sends. ${hints[made]}`);
    }
  }
}

/**
 * Throws `BuildError` for a provider whose name is nearly that of the model. Other names are left: a configuration may be for several
 * models, and a provider of the AI SDK may have a shorter name than its caller.
 */
export function checkProviders({ settings }: AgentConfig, { name: ofModel = "" }: Partial<LlmCaller>): void {
  const known = ofModel.match(/[\w.-]+/g) ?? [];
  for (const group of ["providerOptions", "providerTools"] as const) {
    for (const name of Object.keys(settings[group] ?? {})) {
      if (known.some((caller) => caller.startsWith(name)) || nearest(name, known) === undefined) continue;
      checkName(name, known, `config.settings.${group}.${name}`, "the name of the model's provider");
    }
  }
}
