/** How long the provider caches a prefix; `off` disables the cache. */
export type AnthropicCache = "off" | "5m" | "1h";
