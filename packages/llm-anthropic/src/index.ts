export { anthropic, AnthropicCaller, type AnthropicOptions } from "./anthropic-caller.ts";
export { requestToAnthropic, type AnthropicCache, type AnthropicContext } from "./request-to-anthropic.ts";
