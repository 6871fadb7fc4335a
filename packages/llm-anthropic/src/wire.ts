// Apart from the index, because the types of the SDK are part of these: the index can be used without the SDK.
export { requestToAnthropic, type AnthropicContext } from "./request-to-anthropic.ts";
