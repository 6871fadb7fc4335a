export type { AnthropicCache } from "./anthropic-cache.ts";
export { anthropic, AnthropicCaller, type AnthropicOptions } from "./anthropic-caller.ts";
