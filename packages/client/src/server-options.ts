import { systemClock, type Clock, type ErrorListener } from "@moora/agent";
import { checkOptions, refuse, shownValue, type OptionForms } from "@moora/agent-core-effects/internal";
import { checkAddress, checkHeaders } from "./check-address.ts";
import type { Fetch, RequestHeaders } from "./server-api.ts";

/** How a server is reached. */
export interface ServerOptions {
  /**
   * The address of the server, with its base path and without credentials; a path in a page means the server of the page, and with
   * `fetch` what that makes of it.
   */
  readonly url: string;
  /** Headers of every request, or a function that returns them. Default: none. */
  readonly headers?: RequestHeaders;
  /** Sends requests, with the `signal` of its second argument, which ends streams. Default: `fetch` of the platform. */
  readonly fetch?: Fetch;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** How long the answer to a request may take, with `headers`, before it is sent again, in milliseconds. Default: 30,000. */
  readonly requestTimeoutMs?: number;
  /** The wait after the first failed attempt, in milliseconds; each further one doubles it. Default: 500. */
  readonly retryDelayMs?: number;
  /** The longest wait between attempts, in milliseconds. Default: 15,000. */
  readonly maxRetryDelayMs?: number;
  /**
   * Receives errors that no call waits for, and once, as `Unreachable`, that the server cannot be reached, or answers to try again later,
   * before it has answered the call.
   * Default: `console.error` prints them.
   */
  readonly onError?: ErrorListener;
  /** Aborting it gives up before the server has answered, as `AbortSignal.timeout(10_000)` does. Default: waits without end. */
  readonly signal?: AbortSignal;
}

/** The forms of the options of a server. */
export const serverForms: OptionForms<ServerOptions> = {
  url: "string",
  headers: { expectation: "an object or a function", fits: isHeaders },
  fetch: "function",
  clock: "clock",
  requestTimeoutMs: "positive",
  retryDelayMs: "positive",
  maxRetryDelayMs: "positive",
  onError: "function",
  signal: "signal",
};

function isHeaders(value: unknown): boolean {
  return typeof value === "function" || (typeof value === "object" && value !== null);
}

/** Options with their defaults, and the name of the function that has received them. */
export type ServerSettings = ServerOptions &
  Required<Omit<ServerOptions, "onError" | "signal">> & { readonly caller: string };

/** Throws `BuildError` for options of the wrong form, and without a `url`. */
export function checkServerOptions<Options extends ServerOptions>(
  caller: string,
  options: Options,
  forms: OptionForms<Options>,
): void {
  checkOptions(caller, options, forms);
  const { url } = options;
  if (typeof url !== "string") refuse(`url of ${caller} must be a string, got ${shownValue(url)}.`);
}

/** Throws `BuildError` for an address or a header that no request can have. */
export function serverSettingsOf(caller: string, options: ServerOptions): ServerSettings {
  const { url, headers = {} } = options;
  checkAddress(caller, url, options.fetch !== undefined || "location" in globalThis);
  if (typeof headers === "object") checkHeaders(caller, headers);
  return {
    ...options,
    caller,
    url: url.replace(/\/+$/, ""),
    headers,
    fetch: options.fetch ?? ((address, init) => globalThis.fetch(address, init)),
    clock: options.clock ?? systemClock,
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    retryDelayMs: options.retryDelayMs ?? 500,
    maxRetryDelayMs: options.maxRetryDelayMs ?? 15_000,
  };
}
