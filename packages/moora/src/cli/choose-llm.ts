import { nearest } from "@moora/agent-core-effects";
import type { LlmCaller } from "@moora/llm";
import type { CliHost } from "./cli-host.ts";
import type { GivenOptions } from "./options.ts";
import { providers, type Provider } from "./providers.ts";
import { urlPasswords } from "./url-passwords.ts";
import { UsageError } from "./usage-error.ts";

/** The model of a run, and how people are told of it. */
export interface ChosenLlm {
  readonly llm: LlmCaller;
  readonly provider: Provider;
  /** "" for the planner. */
  readonly model: string;
  /** What no output may show. */
  readonly secrets: readonly string[];
}

/** From the options, then the environment; the planner when nothing is said and no key is there. */
export function chooseLlm(options: GivenOptions, env: CliHost["env"]): ChosenLlm {
  const name = options.text("provider") ?? variable(env, "MOORA_PROVIDER");
  const provider = name === undefined ? firstWithKey(env, options) : providerNamed(name);
  const model = options.text("model") ?? variable(env, "MOORA_MODEL") ?? "";
  const baseURL = options.text("base-url");
  if (!provider.needsModel) {
    for (const option of ["model", "base-url"] as const)
      if (options.has(option))
        throw new UsageError(
          `The ${provider.name} takes no --${option}.`,
          "Name a provider with --provider.",
        );
    return { llm: provider.callerOf({}), provider, model: "", secrets: [] };
  }
  const apiKey = provider.keyName === undefined ? undefined : variable(env, provider.keyName);
  if (provider.keyName !== undefined && apiKey === undefined)
    throw new UsageError(
      `There is no key for ${provider.name}: ${provider.keyName} is not set.`,
      "Set it, or take --provider planner, which needs none and is no language model.",
    );
  if (model === "")
    throw new UsageError(
      `Which model of ${provider.name}?`,
      "Say --model NAME, or set MOORA_MODEL; --provider planner needs none and is no language model.",
    );
  checkSdk(provider);
  const connection = {
    model,
    ...(apiKey !== undefined && { apiKey }),
    ...(baseURL !== undefined && { baseURL: checkedUrl(baseURL) }),
  };
  return { llm: provider.callerOf(connection), provider, model, secrets: secretsIn(env, baseURL) };
}

/** Throws `UsageError` with the package to install, before the first call of the adapter would fail for the same reason. */
function checkSdk({ name, sdk }: Provider): void {
  if (sdk === undefined || isInstalled(sdk)) return;
  throw new UsageError(`The ${name} provider needs the package ${sdk}.`, `Install it: npm install ${sdk}`);
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
  const meant = nearest(name.toLowerCase(), names);
  throw new UsageError(
    `There is no provider ${name}.`,
    meant === undefined ? `There are ${names.join(", ")}.` : `Did you mean ${meant}?`,
  );
}

function firstWithKey(env: CliHost["env"], options: GivenOptions): Provider {
  const found = providers.find(
    ({ keyName }) => keyName !== undefined && variable(env, keyName) !== undefined,
  );
  if (found !== undefined) return found;
  for (const option of ["model", "base-url"] as const)
    if (options.has(option))
      throw new UsageError(
        `--${option} is given, but no provider, and no key is set.`,
        "Name one with --provider.",
      );
  return providerNamed("planner");
}

function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === "http:" || url?.protocol === "https:") return text;
  throw new UsageError("--base-url is no address.", "It begins with http:// or https://.");
}

const variable = (env: CliHost["env"], name: string): string | undefined => {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
};

/** Every key that is set, not only the one in use, and what stands before the @ of an address. */
function secretsIn(env: CliHost["env"], baseURL: string | undefined): readonly string[] {
  const keys = providers.flatMap(({ keyName }) =>
    keyName === undefined ? [] : (variable(env, keyName) ?? []),
  );
  const inUrl = [URL.parse(baseURL ?? "")?.username ?? "", ...urlPasswords(baseURL ?? "")];
  return [...keys, ...inUrl].filter((secret) => secret.length > 3);
}
