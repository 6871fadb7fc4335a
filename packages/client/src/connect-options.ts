import { systemClock, type Clock, type ErrorListener } from "@moora/agent";
import { answerOfText } from "@moora/agent/internal";
import { checkOptions, refuse, shownValue, type OptionForms } from "@moora/agent-core-effects/internal";
import { checkAddress, checkHeaders } from "./check-address.ts";
import type { PostStorage } from "./post-store.ts";
import type { Fetch, RequestHeaders } from "./server-api.ts";

/** The options of `connectSession`. Exactly one of `id` and `agent` is required. */
export interface ConnectOptions<Answer = string> {
  /**
   * The address of the server, with its base path and without credentials; a path in a page means the server of the page, and with
   * `fetch` what that makes of it.
   */
  readonly url: string;
  /** The id of a session. */
  readonly id?: string;
  /** The name of an agent: creates a session of it. */
  readonly agent?: string;
  /** Headers of every request, or a function that returns them. Default: none. */
  readonly headers?: RequestHeaders;
  /** Sends requests. Default: `fetch` of the platform. */
  readonly fetch?: Fetch;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /**
   * Reads the answer from the text of the model; `schema` is the JSON Schema of the agent, or null. Default: the text, or its
   * JSON value if the agent has a schema.
   */
  readonly answerOf?: (text: string, schema: string | null) => Answer | Promise<Answer>;
  /**
   * Stores messages and decisions until the server has confirmed them, in clear text: a later call with the same `url`, `id` and user
   * sends them, if the session was not removed and created again. Default: none, and posts that are pending are lost when the page is closed.
   */
  readonly storage?: PostStorage;
  /** How long the answer to a request may take before it is sent again, in milliseconds. Default: 30,000. */
  readonly requestTimeoutMs?: number;
  /** After how many milliseconds without a byte the connection counts as lost. Default: 45,000. */
  readonly streamIdleMs?: number;
  /** The wait after the first failed attempt, in milliseconds; each further one doubles it. Default: 500. */
  readonly retryDelayMs?: number;
  /** The longest wait between attempts, in milliseconds. Default: 15,000. */
  readonly maxRetryDelayMs?: number;
  /**
   * Receives errors that no call waits for, and once, as `Unreachable`, that the server cannot be reached, or answers to try again later,
   * when the session is connected.
   * Default: `console.error` prints them.
   */
  readonly onError?: ErrorListener;
  /** Aborting it gives up before the session is connected, as `AbortSignal.timeout(10_000)` does. Default: waits without end. */
  readonly signal?: AbortSignal;
}

const forms: OptionForms<ConnectOptions> = {
  url: "string",
  id: "string",
  agent: "string",
  headers: { expectation: "an object or a function", fits: isHeaders },
  fetch: "function",
  clock: "clock",
  answerOf: "function",
  storage: { expectation: "an object with list, add and remove", fits: isStorage },
  requestTimeoutMs: "positive",
  streamIdleMs: "positive",
  retryDelayMs: "positive",
  maxRetryDelayMs: "positive",
  onError: "function",
  signal: "signal",
};

function isHeaders(value: unknown): boolean {
  return typeof value === "function" || (typeof value === "object" && value !== null);
}

function isStorage(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ["list", "add", "remove"].every((name) => typeof Reflect.get(value, name) === "function");
}

/** Options with their defaults. */
export type ConnectSettings<Answer> = ConnectOptions<Answer> &
  Required<Omit<ConnectOptions<Answer>, "id" | "agent" | "storage" | "onError" | "signal">>;

/** Throws `BuildError` for options that do not fit. */
export function settingsOf<Answer>(options: ConnectOptions<Answer>): ConnectSettings<Answer> {
  checkOptions("connectSession", options, forms);
  const { url, id, agent } = options;
  if (typeof url !== "string") refuse(`url of connectSession must be a string, got ${shownValue(url)}.`);
  if ((id === undefined) === (agent === undefined))
    refuse("connectSession needs either id, the id of a session, or agent, the name of an agent.");
  if (id === "") refuse("id of connectSession must not be empty. Give agent to create a session.");
  if (agent === "") refuse("agent of connectSession must not be empty. Give the name of an agent.");
  checkAddress(url, options.fetch !== undefined || "location" in globalThis);
  if (typeof options.headers === "object") checkHeaders(options.headers);
  return {
    ...options,
    url: url.replace(/\/+$/, ""),
    headers: options.headers ?? {},
    fetch: options.fetch ?? ((address, init) => globalThis.fetch(address, init)),
    clock: options.clock ?? systemClock,
    // The caller names the type of the answer; the server has checked that it fits.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    answerOf: options.answerOf ?? (answerOfText as (text: string, schema: string | null) => Answer),
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    streamIdleMs: options.streamIdleMs ?? 45_000,
    retryDelayMs: options.retryDelayMs ?? 500,
    maxRetryDelayMs: options.maxRetryDelayMs ?? 15_000,
  };
}
