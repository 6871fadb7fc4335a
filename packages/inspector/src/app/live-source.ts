import { readServerSentEvents, type StreamEvent } from "@moora/agent-webui-protocol/server-sent-events";
import { batch, signal } from "@preact/signals";
import { notify } from "./copy.tsx";
import { count, goTo, messageOf, openSession, position, rows, worker } from "./store.ts";

/** A session in the list of a server. */
export interface ListedSession {
  readonly id: string;
  readonly agent: string;
  readonly seq: number;
}

/** Whether the page belongs to a server, and what it has of it. */
export const isLive = signal(false);
/** The session that is followed. */
export const liveId = signal<string | undefined>(undefined);
export const isConnected = signal(false);
/** The sessions of the user; undefined until they are loaded. */
export const listed = signal<readonly ListedSession[] | undefined>(undefined);
/** Whether the server asks for a token: its `authorize` did not accept the cookies of the browser. */
export const needsToken = signal(false);
/** What the model streams, by the message that it is a part of. */
export const streaming = signal<{ readonly messageId: string; readonly text: string } | undefined>(undefined);

/** The session of the link that the page was opened with, until it is open. */
let wanted: { readonly id: string; readonly at: number | undefined } | undefined;
/** Kept in memory only. */
let token: string | undefined;
let follower: AbortController | undefined;

/** The address of a route: the page is in the folder `inspector` of the server. */
const address = (path: string): URL => new URL(`../${path}`, location.href);

async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  const response = await fetch(address(path), { ...init, headers });
  if (response.ok) return response;
  if (response.status === 401) needsToken.value = true;
  throw new Error(await problemText(response));
}

async function problemText(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const problem: unknown = JSON.parse(text);
    if (typeof problem === "object" && problem !== null && "detail" in problem) return String(problem.detail);
  } catch {
    // A proxy may answer with another text.
  }
  return `The server answered with status ${response.status}.`;
}

/** Uses a token for all requests, and tries again. */
export async function useToken(text: string): Promise<void> {
  token = text;
  needsToken.value = false;
  await beginLive();
}

/** Loads the sessions, and opens the one of the link. */
export async function beginLive(
  link: { readonly session?: string | undefined; readonly at?: number | undefined } = {},
): Promise<void> {
  if (link.session !== undefined) wanted = { id: link.session, at: link.at };
  await listSessions();
  if (needsToken.value || wanted === undefined) return;
  const { id, at } = wanted;
  wanted = undefined;
  await openLive(id, at);
}

/** Loads the sessions of the user. */
export async function listSessions(): Promise<void> {
  try {
    const page: { readonly sessions: readonly ListedSession[] } = await (
      await request("sessions?limit=200")
    ).json();
    listed.value = page.sessions;
  } catch (error) {
    notify(messageOf(error));
  }
}

/** Opens a session of the server, and follows it. */
export async function openLive(id: string, at?: number): Promise<void> {
  follower?.abort();
  streaming.value = undefined;
  try {
    const text = await (await request(`sessions/${encodeURIComponent(id)}/export`)).text();
    if (!(await openSession(text, at))) return;
    liveId.value = id;
    follower = new AbortController();
    void follow(id, follower.signal);
  } catch (error) {
    notify(messageOf(error));
  }
}

const reconnectMs = 1_000;

/** Follows a session until it is aborted: each record once, also across broken connections. */
async function follow(id: string, aborts: AbortSignal): Promise<void> {
  while (!aborts.aborted) {
    try {
      const response = await request(`sessions/${encodeURIComponent(id)}/events?after=${rows.length}`, {
        signal: aborts,
      });
      isConnected.value = true;
      if (response.body !== null)
        for await (const event of readServerSentEvents(response.body)) await onEvent(event);
    } catch (error) {
      if (!aborts.aborted && needsToken.value) notify(messageOf(error));
    }
    isConnected.value = false;
    if (!aborts.aborted) await new Promise((resolve) => setTimeout(resolve, reconnectMs));
  }
}

async function onEvent({ event, data }: StreamEvent): Promise<void> {
  const fields: unknown = JSON.parse(data);
  if (typeof fields !== "object" || fields === null) return;
  if (event === "input" && "seq" in fields && "input" in fields && typeof fields.seq === "number") {
    const isAtEnd = position.value === count.value;
    await worker.call("append", [{ seq: fields.seq, body: JSON.stringify(fields.input) }]);
    batch(() => {
      if (endsStreaming(fields.input)) streaming.value = undefined;
      if (isAtEnd) goTo(rows.length);
    });
  } else if (event === "chunk" && "messageId" in fields && "text" in fields && "offset" in fields)
    addChunk(fields);
}

const endsStreaming = (input: unknown): boolean =>
  typeof input === "object" &&
  input !== null &&
  "type" in input &&
  ["llm-message-completed", "re-act-observed", "llm-call-failed", "re-act-cancelled"].includes(
    String(input.type),
  );

function addChunk(fields: object): void {
  const { type, messageId, text, offset } = { type: "", messageId: "", text: "", offset: 0, ...fields };
  if (type !== "text") return;
  const known = streaming.value?.messageId === messageId ? streaming.value.text : "";
  streaming.value = { messageId, text: known.slice(0, offset) + text };
}

/** Posts to the session. Returns whether the server accepted it; what it did not is shown as a notice. */
export async function post(kind: "messages" | "decisions" | "cancel", body: object): Promise<boolean> {
  const id = liveId.value ?? "";
  try {
    const response = await request(`sessions/${encodeURIComponent(id)}/${kind}`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": randomKey() },
      body: JSON.stringify(body),
    });
    const receipt: { readonly status: string; readonly reason?: string } = await response.json();
    if (receipt.status === "accepted") return true;
    notify(`Not accepted: ${receipt.reason ?? receipt.status}.`);
  } catch (error) {
    notify(messageOf(error));
  }
  return false;
}

/** 128 random bits. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
