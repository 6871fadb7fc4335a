// A separate entry, because this function uses types of the AI SDK, and the index must compile without it.
export { requestToAiSdk, type AiSdkBody, type AiSdkContext } from "./request-to-ai-sdk.ts";
