/** Who may read the raw parts of a turn again: `openai/responses/api.openai.com/<model>`. */
export const originOf = (provider: string, api: string, baseURL: string, model: string): string =>
  [provider, api, hostOf(baseURL), model].join("/");

/** The host of a URL with its port, without user and password; the empty string when it is no URL. */
export const hostOf = (url: string): string => URL.parse(url)?.host ?? "";
