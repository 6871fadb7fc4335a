import type { PostReceipt, SessionSummary } from "@moora/agent-webui-protocol";
import { signal } from "@preact/signals";
import { messageOf } from "./store.ts";

/** Whether the server asks for a token: its `authorize` accepts neither the cookies of the browser nor the token, if there is one. */
export const needsToken = signal(false);

/** Whether the server has refused what the user has given last. */
export const isTokenRefused = signal(false);

interface Credentials {
  readonly token?: string;
  /** Whether the user has given them, and the server has accepted no request with them yet. */
  isNew: boolean;
}

/** What requests are sent with. Kept in memory only. */
let credentials: Credentials = { isNew: false };

/**
 * Uses a token for all requests from now on; undefined to try again with the cookies or the token that the page has. The page asks for a
 * token until the server has accepted it.
 */
export function setToken(token: string | undefined): void {
  credentials = token === undefined ? { ...credentials, isNew: true } : { token, isNew: true };
  isTokenRefused.value = false;
}

/** Resolves when the server no longer asks for a token, or at the abort. */
export async function untilToken(aborts: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = needsToken.subscribe((isNeeded) => {
    if (!isNeeded) resolve();
  });
  aborts.addEventListener("abort", () => resolve());
  await promise;
  stop();
}

/** The address of a route: the page is at `inspector` of the server, with or without a final slash. */
const address = (path: string): URL =>
  new URL(`../${path}`, new URL(`${location.pathname.replace(/\/$/, "")}/`, location.href));

/** An answer that is not a success. `message` is the detail of the problem. */
export class RequestFailed extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  /** Whether the same request would be refused again: it is not a matter of time, of the load of the server, or of a token. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && !retriedStatuses.has(this.status);
  }
}

/** Unauthorized, request timeout, too early, too many requests. */
const retriedStatuses: ReadonlySet<number> = new Set([401, 408, 425, 429]);

/** Requests a route as the user of the page. Rejects with `RequestFailed`. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const used = credentials;
  if (used.token !== undefined) headers.set("authorization", `Bearer ${used.token}`);
  const response = await fetch(address(path), { ...init, headers });
  // The user may have entered another token meanwhile.
  if (used === credentials) learn(used, response);
  if (response.ok) return response;
  throw new RequestFailed(response.status, await problemText(response));
}

/** The JSON value that a route answers with. Rejects as `request`. */
export const requestJson = async (path: string, init: RequestInit = {}) =>
  await (await request(path, init)).json();

/** Learns from a response whether the server accepts what the request was sent with. */
function learn(used: Credentials, { ok, status }: Response): void {
  if (ok) {
    used.isNew = false;
    needsToken.value = false;
  } else if (status === 401) {
    needsToken.value = true;
    isTokenRefused.value = used.isNew;
  }
}

async function problemText(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { detail, path }: { readonly detail?: string; readonly path?: string } = JSON.parse(text);
    if (detail !== undefined)
      return path?.startsWith("decision.") === true ? withoutNames(detail, path) : detail;
  } catch {
    // A proxy may answer with another text.
  }
  return `The server answered with status ${response.status}.`;
}

/** What is wrong with a decision, without the name of its field in the request, and without the code of the problem. */
const withoutNames = (detail: string, path: string): string =>
  (detail.startsWith(`${path}: `) ? detail.slice(path.length + 2) : detail).replace(/ \([a-z-]+\)$/, "");

/** What can be posted to a session. */
export type PostKind = "messages" | "decisions" | "data" | "cancel" | "pause" | "resume" | "retry";

/** Posts to a session, of this incarnation if it is given. Returns why the server did not accept it; undefined if it did. */
export async function postTo(
  { id, incarnation }: { readonly id: string; readonly incarnation?: string },
  kind: PostKind,
  body: object,
): Promise<string | undefined> {
  try {
    const query = new URLSearchParams(incarnation === undefined ? {} : { incarnation }).toString();
    const receipt: PostReceipt = await requestJson(`sessions/${encodeURIComponent(id)}/${kind}?${query}`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": randomKey() },
      body: JSON.stringify(body),
    });
    return receipt.status === "accepted" ? undefined : `Not accepted: ${receipt.reason}.`;
  } catch (error) {
    return messageOf(error);
  }
}

/** The names of the agents of which the user may create sessions. Rejects with `RequestFailed`. */
export async function listAgents(): Promise<readonly string[]> {
  const list: { readonly agents: readonly { readonly name: string }[] } = await requestJson("agents");
  return list.agents.map(({ name }) => name);
}

/** Creates a session; with the key of an earlier call, returns the one of that. Returns its id. Rejects with `RequestFailed`. */
export async function createSession(agent: string, key: string): Promise<string> {
  const init = { method: "POST", headers: { "idempotency-key": key } };
  const made: SessionSummary = await requestJson(`agents/${encodeURIComponent(agent)}/sessions`, init);
  return made.id;
}

/** The fork that was requested last, until its answer has arrived. */
let requestedFork: { readonly id: string; readonly at: number; readonly key: string } | undefined;

/**
 * Makes a session of the first `at` records of another one. Returns its id. A repeated call after a lost answer returns the fork that was
 * made then. Rejects with `RequestFailed`.
 */
export async function forkOf(id: string, at: number): Promise<string> {
  const last = requestedFork;
  const fork = last?.id === id && last.at === at ? last : { id, at, key: randomKey() };
  requestedFork = fork;
  const made: SessionSummary = await requestJson(`sessions/${encodeURIComponent(id)}/fork`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": fork.key },
    body: JSON.stringify({ at }),
  });
  requestedFork = undefined;
  return made.id;
}

/** 128 random bits. */
export const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
