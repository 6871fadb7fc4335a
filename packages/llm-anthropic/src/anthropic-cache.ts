/** How long a prefix stays in the provider's cache, or `off`. */
export type AnthropicCache = "off" | "5m" | "1h";
