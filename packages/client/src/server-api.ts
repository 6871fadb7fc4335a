import type { Clock } from "@moora/agent";
import { protocolVersion, type Problem } from "@moora/agent-webui-protocol";
import { checkHeaders } from "./check-address.ts";
import { problemToError, type ClientError } from "./client-error.ts";

/** Sends a request. `fetch` of the platform fits. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Headers of every request, or a function that returns them, such as one that renews a token. */
export type RequestHeaders =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** What requests need of the options. */
export interface ApiOptions {
  /** The function that has received them. */
  readonly caller: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly requestTimeoutMs: number;
}

/** A request failed in a way that may not last: the server was not reached, or it asked to be asked again. */
export class Unreachable extends Error {
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number;
  /** What the server did instead of an answer, as the end of a sentence about it. */
  readonly problem: string;

  /** `cause` is the error of the connection, or the status or problem with which the server has answered. */
  constructor(cause: unknown, retryAfterMs = 0) {
    const status = statusOf(cause);
    const problem = status === undefined ? "cannot be reached" : `answered with status ${status}`;
    super(`The server ${problem}.`, { cause });
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the server has answered. */
  get isAnswered(): boolean {
    return statusOf(this.cause) !== undefined;
  }

  /** Whether the server itself has refused the request with a problem; false for a status alone, as proxies send it. */
  get isRefusal(): boolean {
    return isProblem(this.cause);
  }
}

/** The status of an answer; undefined for an error of the connection. */
function statusOf(cause: unknown): number | undefined {
  if (isProblem(cause)) return cause.status;
  return typeof cause === "number" ? cause : undefined;
}

interface ApiRequest {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The statuses after which the same request may succeed: nothing was applied, or its idempotency key repeats it safely. */
const transient: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

/** Of requests and responses. */
const versionHeader = "moora-protocol";

/** Requests to one server. They throw `Unreachable`, and `ClientError` for what the server refuses. */
export class ServerApi {
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /** The address of the server. */
  get url(): string {
    return this.#options.url;
  }

  /**
   * The JSON of a response. Of one without a body, the version of the protocol that a server of this protocol names; null for another
   * server.
   */
  async json(path: string, request: ApiRequest): Promise<unknown> {
    const { clock, requestTimeoutMs } = this.#options;
    const late = new AbortController();
    const cancelTimer = clock.after(requestTimeoutMs, () =>
      late.abort(new Error("The server did not answer.")),
    );
    const signal = AbortSignal.any([request.signal, late.signal]);
    try {
      return await untilAborted(signal, this.#send(path, { ...request, signal }).then(jsonOf));
    } catch (error) {
      // A body that ends early, or that a proxy made, is not an answer.
      throw error instanceof SyntaxError || error instanceof TypeError ? new Unreachable(error) : error;
    } finally {
      cancelTimer();
    }
  }

  /** A successful response. Aborting `signal` ends it. */
  async open(path: string, request: ApiRequest): Promise<Response> {
    return await untilAborted(request.signal, this.#send(path, request));
  }

  async #send(path: string, { method = "GET", body, headers, signal }: ApiRequest): Promise<Response> {
    const { caller, url, headers: common, fetch } = this.#options;
    const own = typeof common === "function" ? await checkedHeaders(caller, common) : common;
    // Headers that are late send nothing.
    if (signal.aborted) throw new Unreachable(signal.reason);
    let response: Response;
    try {
      response = await fetch(`${url}${path}`, {
        method,
        signal,
        headers: {
          ...own,
          [versionHeader]: String(protocolVersion),
          ...(method === "POST" ? { "content-type": "application/json" } : {}),
          ...headers,
        },
        ...(method === "POST" ? { body: JSON.stringify(body ?? {}) } : {}),
      });
    } catch (error) {
      throw new Unreachable(error);
    }
    if (signal.aborted) throw await lateResponse(response, signal);
    if (response.ok) return response;
    throw await refusalOf(response);
  }
}

/** Waits for a request until it is given up: the functions of a caller may ignore the signal. Rejects with `Unreachable` then. */
async function untilAborted<Value>(signal: AbortSignal, request: Promise<Value>): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Unreachable(signal.reason));
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, request]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Closes the connection of a response that came after its request was given up. */
async function lateResponse({ body }: Response, signal: AbortSignal): Promise<Unreachable> {
  await body?.cancel().catch(() => undefined);
  return new Unreachable(signal.reason);
}

const jsonOf = async (response: Response): Promise<unknown> =>
  response.status === 204 ? response.headers.get(versionHeader) : await response.json();

/** Headers that a function returns. They were not checked with the options. */
async function checkedHeaders(
  caller: string,
  make: Extract<RequestHeaders, () => unknown>,
): Promise<Readonly<Record<string, string>>> {
  const headers = await make();
  checkHeaders(caller, headers);
  return headers;
}

async function refusalOf(response: Response): Promise<Unreachable | ClientError> {
  const { status, statusText, headers } = response;
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    // What the server has answered is not known.
    return new Unreachable(error);
  }
  const problem = problemOf(text);
  if (transient.has(status)) {
    const seconds = Number(headers.get("retry-after") ?? 0);
    return new Unreachable(problem ?? status, Number.isFinite(seconds) ? seconds * 1_000 : 0);
  }
  // A proxy whose server is away answers without a problem.
  if (problem === undefined && status >= 500) return new Unreachable(status);
  return problemToError(
    problem ?? { type: "about:blank", title: statusText || `HTTP ${status}`, status, code: "unknown" },
  );
}

function problemOf(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isProblem(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isProblem = (value: unknown): value is Problem =>
  typeof value === "object" && value !== null && "code" in value && "status" in value && "title" in value;
