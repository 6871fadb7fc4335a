// A separate entry, because these functions use types of the SDK, and the index must compile without the SDK.
export { requestToAnthropic, type AnthropicContext } from "./request-to-anthropic.ts";
