import { environmentVariable } from "./environment.ts";
import { hash32 } from "./wire-ids.ts";

/** Options for the connection of a caller to its provider. */
export interface ConnectionOptions {
  /** The API key. Default: the value of the provider's environment variable. */
  readonly apiKey?: string;
  /** The absolute URL of the API, with `http://` or `https://`. Default: the provider's own. */
  readonly baseURL?: string;
  /** The model for requests whose `model` is the empty string. */
  readonly model?: string;
  /** Headers for every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** How long to wait for the first byte of an answer, in milliseconds. Default: 300,000, because slow models think first. */
  readonly firstChunkTimeoutMs?: number;
  /** How long to wait between two chunks of an answer, in milliseconds. Default: 120,000. */
  readonly idleTimeoutMs?: number;
  /**
   * How long to wait for content while comments, pings or empty chunks keep an answer alive, in milliseconds. Default: five times
   * `idleTimeoutMs`, at least `firstChunkTimeoutMs`.
   */
  readonly contentTimeoutMs?: number;
  /** How long a whole answer may take, in milliseconds. Default: 3,600,000. */
  readonly callTimeoutMs?: number;
  /** Allows calls with an API key from a browser, where every user of the page can read the key. Default: false. */
  readonly dangerouslyAllowBrowser?: boolean;
}

/** An API key, or why no key is usable. */
export type ApiKey =
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "missing" }
  | { readonly type: "invalid" };

/**
 * The API key of a connection: the configured one, otherwise the value of the environment variable. White space around it is
 * removed, since keys are often read from files; a key with other characters than visible ASCII is invalid in a header.
 */
export function resolveApiKey(configured: string | undefined, variable: string | undefined): ApiKey {
  const key = (configured ?? (variable === undefined ? "" : environmentVariable(variable)) ?? "").trim();
  if (key === "") return { type: "missing" };
  return /^[\x21-\x7e]+$/.test(key) ? { type: "key", key } : { type: "invalid" };
}

/**
 * The texts that messages of failures must not contain: the key, the values of headers, also without the scheme in front of credentials,
 * the user and the password of the URL.
 */
export function secretsOf(options: ConnectionOptions, key: string): readonly string[] {
  const url = URL.parse(options.baseURL ?? "");
  const values = Object.values(options.headers ?? {}).flatMap((value) => [value, withoutScheme(value)]);
  return [key, ...new Set(values), url?.username ?? "", url?.password ?? ""];
}

/** The credentials of a header without their scheme: a server may quote them without it. */
export const withoutScheme = (value: string): string => value.replace(/^\w+:?\s+/, "");

/** Why a base URL is invalid; undefined for a valid one. The message contains no user, password and query. */
export function baseUrlProblem(baseURL: string): string | undefined {
  if (/^https?:\/\//i.test(baseURL) && URL.canParse(baseURL)) return undefined;
  const shown = baseURL
    .slice(baseURL.lastIndexOf("@") + 1)
    .split("?", 1)
    .join("");
  return `baseURL must be an absolute URL with http:// or https://, got "${shown}".`;
}

/** The text if it is valid as the value of a header, otherwise a hash of it. Equal texts give equal values. */
export const headerValue = (text: string): string =>
  /^[\x21-\x7e]{1,200}$/.test(text)
    ? text
    : `moora-${[1, 2, 3, 4].map((seed) => hash32(text, seed).toString(36)).join("-")}`;
