import type { LlmSettings } from "./request.ts";

/** A setting that is missing here does not compile. */
const knownSettings: Readonly<Record<keyof LlmSettings, true>> = {
  maxOutputTokens: true,
  temperature: true,
  topP: true,
  seed: true,
  stop: true,
  reasoningEffort: true,
  confidence: true,
  providerOptions: true,
};

/** A warning for each setting that `LlmSettings` does not have: hosts without types may misspell one. */
export const unknownSettingWarnings = (settings: LlmSettings): string[] =>
  Object.keys(settings)
    .filter((name) => !Object.hasOwn(knownSettings, name))
    .map((name) => `settings.${name} was left out: unknown setting`);
