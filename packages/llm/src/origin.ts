/**
 * The origin of a turn, which alone gets its raw parts back: `openai/responses/api.openai.com/<model>`. Without a base URL it
 * has no host.
 */
export const originOf = (provider: string, api: string, baseURL: string | undefined, model: string): string =>
  [provider, api, ...(baseURL === undefined ? [] : [hostOf(baseURL)]), model].join("/");

/** The host and port of a URL, without user and password. The empty string for an invalid URL. */
export const hostOf = (url: string): string => URL.parse(url)?.host ?? "";
