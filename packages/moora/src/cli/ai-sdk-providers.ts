import { AiSdkCaller, type AiSdkFactory } from "@moora/llm-ai-sdk";
import { loadSdk } from "@moora/llm/adapter";
import type { Provider } from "./provider.ts";

const viaAiSdk = (
  { name, sdk, ...settings }: Pick<Provider, "name" | "keyName" | "variables"> & { readonly sdk: string },
  factory: AiSdkFactory,
): Provider => ({
  name,
  sdk,
  ...settings,
  needsModel: true,
  callerOf: (given) => {
    const { dangerouslyAllowBrowser: _, ...connection } = given;
    const { keyName } = settings;
    return new AiSdkCaller(factory, { ...connection, name, ...(keyName !== undefined && { keyName }) });
  },
});

/** Providers whose models are called through the AI SDK, each with its own package. */
export const aiSdkProviders: readonly Provider[] = [
  viaAiSdk(
    { name: "google", sdk: "@ai-sdk/google", keyName: "GOOGLE_GENERATIVE_AI_API_KEY" },
    async (connection) => {
      const sdk = await loadSdk("google", "@ai-sdk/google", () => import("@ai-sdk/google"));
      return sdk.createGoogle(connection)(connection.model);
    },
  ),
  viaAiSdk({ name: "xai", sdk: "@ai-sdk/xai", keyName: "XAI_API_KEY" }, async (connection) => {
    const sdk = await loadSdk("xai", "@ai-sdk/xai", () => import("@ai-sdk/xai"));
    return sdk.createXai(connection)(connection.model);
  }),
  viaAiSdk({ name: "cohere", sdk: "@ai-sdk/cohere", keyName: "COHERE_API_KEY" }, async (connection) => {
    const sdk = await loadSdk("cohere", "@ai-sdk/cohere", () => import("@ai-sdk/cohere"));
    return sdk.createCohere(connection)(connection.model);
  }),
  viaAiSdk(
    { name: "azure", sdk: "@ai-sdk/azure", variables: [["AZURE_API_KEY", "AZURE_RESOURCE_NAME"]] },
    async (connection) => {
      const sdk = await loadSdk("azure", "@ai-sdk/azure", () => import("@ai-sdk/azure"));
      return sdk.createAzure(connection)(connection.model);
    },
  ),
  viaAiSdk(
    {
      name: "bedrock",
      sdk: "@ai-sdk/amazon-bedrock",
      variables: [
        ["AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION"],
        ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"],
      ],
    },
    async (connection) => {
      const load = () => import("@ai-sdk/amazon-bedrock");
      const sdk = await loadSdk("bedrock", "@ai-sdk/amazon-bedrock", load);
      return sdk.createAmazonBedrock(connection)(connection.model);
    },
  ),
  viaAiSdk(
    {
      name: "vertex",
      sdk: "@ai-sdk/google-vertex",
      variables: [["GOOGLE_VERTEX_API_KEY"], ["GOOGLE_VERTEX_PROJECT", "GOOGLE_VERTEX_LOCATION"]],
    },
    async (connection) => {
      const load = () => import("@ai-sdk/google-vertex");
      const sdk = await loadSdk("vertex", "@ai-sdk/google-vertex", load);
      return sdk.createGoogleVertex(connection)(connection.model);
    },
  ),
];
