import { environmentVariable } from "./environment.ts";
import { hash32 } from "./wire-ids.ts";

/** How a caller reaches its provider. */
export interface ConnectionOptions {
  /** Default: the provider's variable of the environment. */
  readonly apiKey?: string;
  /** Absolute, with `http://` or `https://`. */
  readonly baseURL?: string;
  /** The model of requests that name none. */
  readonly model?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** Default: 300,000. Slow models think before the first byte. */
  readonly firstChunkTimeoutMs?: number;
  /** Default: 120,000. */
  readonly idleTimeoutMs?: number;
  /** Allows a key in a browser, where everybody can read it. Default: false. */
  readonly dangerouslyAllowBrowser?: boolean;
}

/** A key, or why there is none. */
export type ApiKey =
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "missing" }
  | { readonly type: "unsendable" };

/** White space around a key comes from files; inside, no header can carry it. */
export function resolveApiKey(given: string | undefined, variable: string | undefined): ApiKey {
  const key = (given ?? (variable === undefined ? "" : environmentVariable(variable)) ?? "").trim();
  if (key === "") return { type: "missing" };
  return /^[\x21-\x7e]+$/.test(key) ? { type: "key", key } : { type: "unsendable" };
}

/** What no message of a failure may show: the key, the values of headers, user and password of a URL. */
export function secretsOf(options: ConnectionOptions, key: string): readonly string[] {
  const url = URL.parse(options.baseURL ?? "");
  const secrets = [key, ...Object.values(options.headers ?? {}), url?.username, url?.password];
  return secrets.filter((secret) => secret !== undefined);
}

/** What is wrong with the address of a provider, undefined where it can be called. User, password and query are not shown. */
export function baseUrlProblem(baseURL: string): string | undefined {
  if (/^https?:\/\//i.test(baseURL) && URL.canParse(baseURL)) return undefined;
  const shown = baseURL
    .slice(baseURL.lastIndexOf("@") + 1)
    .split("?", 1)
    .join("");
  return `baseURL must be an absolute URL with http:// or https://, got "${shown}".`;
}

/** A text that fits into a header, equal for equal texts. */
export const headerValue = (text: string): string =>
  /^[\x21-\x7e]{1,200}$/.test(text)
    ? text
    : `moora-${[1, 2, 3, 4].map((seed) => hash32(text, seed).toString(36)).join("-")}`;
