import { nearest, refuse } from "@moora/agent-core-effects/internal";
import type { AgentConfig } from "@moora/agent-core-state-machine";
import type { LlmCaller } from "@moora/llm";
import { madeFieldHint } from "@moora/llm/internal";
import { checkName } from "./check-name.ts";

/** Throws `BuildError` for a field of the request that the agent makes itself. */
export function checkProviderOptions({ settings: { providerOptions = {} } }: AgentConfig): void {
  for (const [provider, fields] of Object.entries(providerOptions)) {
    const name = Object.keys(fields).find((field) => madeFieldHint(field) !== undefined);
    if (name === undefined) continue;
    const place = `config.settings.providerOptions.${provider}.${name}`;
    refuse(`${place} would replace what the agent sends. ${madeFieldHint(name)}`);
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
