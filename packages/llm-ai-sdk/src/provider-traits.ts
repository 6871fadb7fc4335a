import { commonFiles, commonIdFormat, type FileLimits, type IdFormat } from "@moora/llm/adapter";
import type { JsonObject } from "@moora/llm";

/** How a provider of the AI SDK differs from others, where the common interface of its models has no field. */
export interface ProviderTraits {
  /** The provider's name in `providerOptions`. */
  readonly optionsName: string;
  /** Options that are always set. Options of the caller and of the request replace them. */
  readonly options?: JsonObject;
  /** The option that turns parallel tool calls off; missing if there is none. */
  readonly noParallelCalls?: JsonObject;
  /** The name of the option for `cacheKey`; missing if there is none. */
  readonly cacheKeyOption?: string;
  /** The format of tool call ids. */
  readonly idFormat: IdFormat;
  /** The format of tool names. */
  readonly nameFormat: IdFormat;
  /** Media types of files with data that the provider accepts. */
  readonly files: RegExp;
  /** The documented limits for the files of a request; missing if there are none. */
  readonly fileLimits?: FileLimits;
  /** Whether a tool result may contain files. Otherwise they follow in a user message. */
  readonly filesInResults: boolean;
  /** Whether files in results may be URLs. Some models download those themselves, so they are replaced by their names. */
  readonly urlsInResults: boolean;
  /** Whether the schema of the answer is accepted together with tools. */
  readonly schemaWithTools: boolean;
  /** Whether a user message may directly follow tool results. */
  readonly userAfterResults: boolean;
  /** Whether calls and results need tools in the same request. Without any, they are sent as text. Default: false. */
  readonly callsNeedTools?: boolean;
}

/**
 * Names of members of every object are replaced: models look names of tools up in plain objects, where those names are found
 * without being there.
 */
const notInherited =
  "(?!(?:__.*__|constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf)$)";

const nameFormatOf = (characters: string): IdFormat => ({
  pattern: new RegExp(`^${notInherited}${characters}$`),
  length: commonIdFormat.length,
});

const common = {
  idFormat: commonIdFormat,
  nameFormat: nameFormatOf("[A-Za-z0-9_-]{1,64}"),
  files: commonFiles,
  filesInResults: false,
  urlsInResults: false,
  schemaWithTools: false,
  userAfterResults: true,
} as const;

const noParallelCalls = { parallelToolCalls: false };

/** Nothing is stored, so that the provider returns encrypted reasoning. */
const options = { store: false };

/** OpenAI's provider, also for Azure. */
const openAi = { noParallelCalls, cacheKeyOption: "promptCacheKey", schemaWithTools: true };

const google = {
  nameFormat: nameFormatOf("[A-Za-z_][A-Za-z0-9_-]{0,63}"),
  files: /^(image\/(png|jpeg|webp|heic|heif)|(audio|video)\/[\w.+-]+|application\/pdf)$/,
  fileLimits: { maxFiles: 3_600, maxTotalLength: 100 * 2 ** 20 },
  filesInResults: true,
};

/**
 * What is different, by a model's `provider`. The first match counts. The name of the options is that of the group, if the pattern has
 * one, otherwise the beginning of the provider.
 */
const known: readonly (readonly [RegExp, Partial<ProviderTraits>])[] = [
  [/^(openai|azure)\b.*\.responses$/, { ...openAi, options, filesInResults: true, urlsInResults: true }],
  [/^(openai|azure)\b/, openAi],
  [
    /\b(anthropic)\b/,
    {
      fileLimits: { maxFiles: 100, maxImageLength: 5 * 2 ** 20, maxTotalLength: 30 * 2 ** 20 },
      noParallelCalls: { disableParallelToolUse: true },
      filesInResults: true,
      urlsInResults: true,
    },
  ],
  [/^google\b.*\bvertex\b/, { ...google, optionsName: "googleVertex" }],
  [/^google\b/, google],
  [
    /^mistral\b/,
    {
      noParallelCalls,
      cacheKeyOption: "promptCacheKey",
      idFormat: { pattern: /^[A-Za-z0-9]{9}$/, length: 9 },
      fileLimits: { maxFiles: 8 },
      userAfterResults: false,
    },
  ],
  [/^xai\b/, { options, noParallelCalls }],
  [/^amazon-bedrock\b/, { optionsName: "bedrock", filesInResults: true, callsNeedTools: true }],
];

/** The traits of a provider, by the `provider` of its models. An unknown one has only what every provider accepts. */
export function traitsOf(provider: string): ProviderTraits {
  const [pattern, traits] = known.find(([one]) => one.test(provider)) ?? [];
  const optionsName = pattern?.exec(provider)?.[1] ?? provider.split(".", 1).join("");
  return { ...common, optionsName, ...traits };
}
