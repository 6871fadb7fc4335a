export { aiSdk, AiSdkCaller, type AiSdkOptions } from "./ai-sdk-caller.ts";
export type { AiSdkConnection, AiSdkFactory, AiSdkModel } from "./ai-sdk-model.ts";
