import type { LlmSettings } from "./request.ts";

/** The warning about something that was left out of a request because an API does not support it. */
export const unsupportedWarning = (what: string, api: string): string =>
  `${what} was left out: ${api} does not support it`;

/** Every setting; a missing one does not compile. */
export const knownSettings: Readonly<Record<keyof LlmSettings, true>> = {
  maxOutputTokens: true,
  temperature: true,
  topP: true,
  seed: true,
  stop: true,
  reasoningEffort: true,
  confidence: true,
  providerOptions: true,
  providerTools: true,
};

/** A warning for every setting that `LlmSettings` does not have, such as a misspelled one. */
export const unknownSettingWarnings = (settings: LlmSettings): string[] =>
  Object.keys(settings)
    .filter((name) => !Object.hasOwn(knownSettings, name))
    .map((name) => `settings.${name} was left out: unknown setting`);
