import { AiSdkCaller, type AiSdkFactory, type AiSdkModel } from "@moora/llm-ai-sdk";
import { loadSdk } from "@moora/llm/adapter";
import type { Provider } from "./providers.ts";

interface AiSdkRow extends Pick<Provider, "name" | "keyName" | "variables"> {
  /** The package, and its function that makes a provider. */
  readonly sdk: string;
  readonly load: () => Promise<unknown>;
  readonly create: string;
}

/** The providers whose models are called through the AI SDK, each with its own package. */
const rows: readonly AiSdkRow[] = [
  {
    name: "google",
    sdk: "@ai-sdk/google",
    load: () => import("@ai-sdk/google"),
    create: "createGoogle",
    keyName: "GOOGLE_GENERATIVE_AI_API_KEY",
  },
  {
    name: "xai",
    sdk: "@ai-sdk/xai",
    load: () => import("@ai-sdk/xai"),
    create: "createXai",
    keyName: "XAI_API_KEY",
  },
  {
    name: "cohere",
    sdk: "@ai-sdk/cohere",
    load: () => import("@ai-sdk/cohere"),
    create: "createCohere",
    keyName: "COHERE_API_KEY",
  },
  {
    name: "azure",
    sdk: "@ai-sdk/azure",
    load: () => import("@ai-sdk/azure"),
    create: "createAzure",
    variables: [["AZURE_API_KEY", "AZURE_RESOURCE_NAME"]],
  },
  {
    name: "bedrock",
    sdk: "@ai-sdk/amazon-bedrock",
    load: () => import("@ai-sdk/amazon-bedrock"),
    create: "createAmazonBedrock",
    variables: [
      ["AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION"],
      ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"],
    ],
  },
  {
    name: "vertex",
    sdk: "@ai-sdk/google-vertex",
    load: () => import("@ai-sdk/google-vertex"),
    create: "createGoogleVertex",
    variables: [["GOOGLE_VERTEX_API_KEY"], ["GOOGLE_VERTEX_PROJECT", "GOOGLE_VERTEX_LOCATION"]],
  },
];

type Connection = Parameters<AiSdkFactory>[0];
type SdkModule = Readonly<Record<string, (connection: Connection) => (model: string) => AiSdkModel>>;

export const aiSdkProviders: readonly Provider[] = rows.map(({ load, create, ...row }) => ({
  ...row,
  needsModel: true,
  callerOf(options) {
    const { dangerouslyAllowBrowser: _, ...connection } = options;
    const { name, sdk, keyName } = row;
    const factory: AiSdkFactory = async (given) => {
      // The row names the function that the package exports.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const module = await loadSdk(name, sdk, async () => (await load()) as SdkModule);
      const createProvider = module[create];
      if (createProvider === undefined) throw new TypeError(`${sdk} does not export ${create}.`);
      return createProvider(given)(given.model);
    };
    return new AiSdkCaller(factory, { ...connection, name, ...(keyName !== undefined && { keyName }) });
  },
}));
