import type { LlmCaller } from "@moora/llm";
import type { CliHost } from "./cli-host.ts";
import { nearestHint, type OptionName, type Options } from "./options.ts";
import { providers, type Provider } from "./providers.ts";
import { environmentSecrets, urlSecrets } from "./secrets.ts";
import { usageError } from "./cli-failure.ts";

/** How long a provider may send nothing, in seconds. */
const defaultTimeoutSeconds = 60;

/** The model of a run, with its names for messages. */
export interface ChosenLlm {
  readonly llm: LlmCaller;
  readonly provider: Provider;
  /** "" for the planner. */
  readonly model: string;
  /** How long the provider may send nothing before the call times out. */
  readonly timeoutSeconds: number;
  /** Values that no output may show. */
  readonly secrets: readonly string[];
}

const noKeyNeeded = "--provider planner needs none; it is not a language model.";

/** Chooses by the options, then the environment. The planner is used when neither names a provider or holds a key. */
export function chooseLlm(options: Options, env: CliHost["env"]): ChosenLlm {
  const name = options.provider ?? variable(env, "MOORA_PROVIDER");
  const provider = name === undefined ? firstWithKey(env, options) : providerNamed(name);
  const timeoutSeconds = options.timeout ?? defaultTimeoutSeconds;
  const baseURL = options["base-url"];
  const secrets = [...environmentSecrets(env), ...urlSecrets(baseURL ?? "")];
  if (!provider.needsModel) {
    const useless = optionOfModel(options);
    const hint = "Name another one with --provider.";
    if (useless !== undefined)
      throw usageError(`--${useless} cannot be used with the provider "${provider.name}".`, hint);
    return { llm: provider.callerOf({}), provider, model: "", timeoutSeconds, secrets };
  }
  const apiKey = apiKeyOf(provider, env);
  checkVariables(provider, env);
  const model = options.model ?? variable(env, "MOORA_MODEL");
  if (model === undefined) {
    throw usageError(
      `Missing model for ${provider.name}.`,
      `Pass --model NAME, or set MOORA_MODEL. ${noKeyNeeded}`,
    );
  }
  checkSdk(provider);
  const llm = provider.callerOf({
    model,
    firstChunkTimeoutMs: timeoutSeconds * 1_000,
    idleTimeoutMs: timeoutSeconds * 1_000,
    ...(apiKey !== undefined && { apiKey }),
    ...(baseURL !== undefined && { baseURL }),
  });
  return { llm, provider, model, timeoutSeconds, secrets };
}

function apiKeyOf({ name, keyName }: Provider, env: CliHost["env"]): string | undefined {
  if (keyName === undefined) return undefined;
  const key = variable(env, keyName);
  if (key !== undefined) return key;
  throw usageError(`Missing API key for ${name}: ${keyName} is not set.`, `Set it. ${noKeyNeeded}`);
}

/** Throws `CliFailure` with the environment variables to set, if no set of them is complete. */
function checkVariables({ name, variables }: Provider, env: CliHost["env"]): void {
  const isComplete = (set: readonly string[]): boolean =>
    set.every((variableName) => variable(env, variableName) !== undefined);
  if (variables === undefined || variables.some(isComplete)) return;
  const sets = variables.map((set) => set.join(" and ")).join(", or ");
  throw usageError(`Missing settings for ${name} in the environment.`, `Set ${sets}.`);
}

/** Throws `CliFailure` with the package to install, before the first call of the adapter would fail for the same reason. */
function checkSdk({ name, sdk }: Provider): void {
  if (sdk === undefined || isInstalled(sdk)) return;
  throw usageError(`The ${name} provider needs the package ${sdk}.`, `Install it: npm install ${sdk}`);
}

function isInstalled(packageName: string): boolean {
  try {
    import.meta.resolve(packageName);
    return true;
  } catch {
    return false;
  }
}

function providerNamed(name: string): Provider {
  const found = providers.find((provider) => provider.name === name.toLowerCase());
  if (found !== undefined) return found;
  const names = providers.map((provider) => provider.name);
  throw usageError(`Unknown provider "${name}".`, nearestHint(name.toLowerCase(), names));
}

function firstWithKey(env: CliHost["env"], options: Options): Provider {
  const found = providers.find(
    ({ keyName }) => keyName !== undefined && variable(env, keyName) !== undefined,
  );
  if (found !== undefined) return found;
  const useless = optionOfModel(options);
  if (useless === undefined) return providerNamed("planner");
  const hint = "Name a provider with --provider.";
  throw usageError(`--${useless} needs a provider, and no API key is set.`, hint);
}

/** An option that is given, and that a provider without models cannot use. */
const optionOfModel = (options: Options): OptionName | undefined =>
  (["model", "base-url"] as const).find((option) => options[option] !== undefined);

const variable = (env: CliHost["env"], name: string): string | undefined => {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
};
