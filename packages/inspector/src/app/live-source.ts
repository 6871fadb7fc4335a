import type { ChunkEvent, InputEvent } from "@moora/agent-webui-protocol";
import { readServerSentEvents, type StreamEvent } from "@moora/agent-webui-protocol/server-sent-events";
import { batch, computed, signal } from "@preact/signals";
import { notify } from "./copy.tsx";
import {
  needsToken,
  postTo,
  request,
  RequestFailed,
  setToken,
  untilToken,
  type PostKind,
} from "./live-requests.ts";
import { beginSessions, listSessions, loadAgents } from "./session-list.ts";
import {
  count,
  goTo,
  isChat,
  loadView,
  messageOf,
  openSession,
  phase,
  position,
  problem,
  rows,
  session,
  worker,
} from "./store.ts";
import { closeEndedQuestions, forgetSubAgentQuestions, onQuestionChunk } from "./sub-agent-questions.ts";

/** Whether the page belongs to a server, and what it has of it. */
export const isLive = signal(false);
/** The session that is followed. */
export const liveId = signal<string | undefined>(undefined);
/**
 * Whether records arrive: `unauthorized` while the server asks for a token, `ended` if it does not continue the session, for the
 * reason that the page shows.
 */
export const liveStatus = signal<"connecting" | "live" | "unauthorized" | "ended">("connecting");
/** Whether what is posted arrives. Otherwise the buttons for it take no press, and keep the focus. */
export const isConnected = computed(() => liveStatus.value === "live");
/** Whether the chat is shown: of a file, the inspector always is. */
export const isChatOpen = computed(
  () => phase.value === "open" && isChat.value && liveId.value !== undefined,
);
/** What the model streams, by the message that it is a part of. */
export const streaming = signal<{ readonly messageId: string; readonly text: string } | undefined>(undefined);

/** The session of the link that the page was opened with, until it is open. */
let wanted: { readonly id: string; readonly at: number | undefined } | undefined;
let follower: AbortController | undefined;

/** Uses a token for all requests, and tries again; without one, with what the page has. */
export async function useToken(token?: string): Promise<void> {
  setToken(token);
  await beginLive();
}

/** Opens the session of the link once the server has accepted a request, and loads the list of sessions. */
export async function beginLive(
  link: { readonly session?: string | undefined; readonly at?: number | undefined } = {},
): Promise<void> {
  if (link.session !== undefined) wanted = { id: link.session, at: link.at };
  await beginSessions(async () => {
    if (needsToken.value) return;
    void loadAgents();
    await openWanted();
  });
}

async function openWanted(): Promise<void> {
  if (wanted === undefined) return;
  const { id, at } = wanted;
  wanted = undefined;
  await openLive(id, at);
}

/** Opens a file. The session of the server, if one was open, is followed no more. */
export async function openFile(file: Blob): Promise<void> {
  stopFollowing();
  await openSession(file);
}

function stopFollowing(): void {
  follower?.abort();
  batch(() => {
    liveId.value = undefined;
    streaming.value = undefined;
    forgetSubAgentQuestions();
  });
}

/** Opens a session of the server, and follows it. */
export async function openLive(id: string, at?: number): Promise<void> {
  stopFollowing();
  const { signal: aborts } = (follower = new AbortController());
  liveStatus.value = "connecting";
  // What another session asks is not shown under the address of this one.
  phase.value = "opening";
  try {
    const text = await exported(id);
    if (aborts.aborted || !(await openSession(text, at)) || aborts.aborted) return;
    liveId.value = id;
    void follow(id, aborts);
  } catch (error) {
    if (aborts.aborted) return;
    if (needsToken.value) wanted = { id, at };
    phase.value = session.value?.id === id ? "open" : "start";
    if (!needsToken.value) notify(messageOf(error));
  }
}

/** Shows the list of sessions in place of the session that is followed. */
export function closeLive(): void {
  stopFollowing();
  phase.value = "start";
  void listSessions();
}

/** Shows the start page, as an entry of the history. */
export function showStart(): void {
  // The address may not have the session yet.
  if (location.hash === "") closeLive();
  else location.hash = "";
}

/** The shortest time between two connections, and the wait after one that has failed. */
const reconnectMs = 1_000;

/**
 * Follows a session until it is aborted, or the server refuses to continue: each record once, also across broken connections. A stream
 * that the server has ended, to authorize its reader again, is followed by the next one at once.
 */
async function follow(id: string, aborts: AbortSignal): Promise<void> {
  while (!aborts.aborted) {
    const next = performance.now() + reconnectMs;
    const cause = await readStream(id, aborts).catch((error: unknown) => error);
    if (aborts.aborted) return;
    if (isFinal(cause)) return end(cause);
    if (cause instanceof RequestFailed && cause.status === 401) await authorized(aborts);
    else if (cause === undefined) await pause(next - performance.now());
    else {
      liveStatus.value = "connecting";
      await pause(reconnectMs);
    }
  }
}

/** Reads one stream to its end. */
async function readStream(id: string, aborts: AbortSignal): Promise<void> {
  const response = await request(`sessions/${encodeURIComponent(id)}/events?${await afterQuery()}`, {
    signal: aborts,
  });
  liveStatus.value = "live";
  forgetSubAgentQuestions();
  if (response.body !== null)
    for await (const event of readServerSentEvents(response.body)) await onEvent(event);
}

const isFinal = (cause: unknown): cause is Error =>
  cause instanceof SessionEnded || (cause instanceof RequestFailed && cause.isFinal);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

/** Waits for a token that the user enters. */
async function authorized(aborts: AbortSignal): Promise<void> {
  liveStatus.value = "unauthorized";
  await untilToken(aborts);
  if (!aborts.aborted) liveStatus.value = "connecting";
}

/** The query of a stream after the records that the page has. The server refuses it for records of another history. */
async function afterQuery(): Promise<string> {
  const { seq, ...history } = await worker.call("position");
  return new URLSearchParams({ after: String(seq), ...history }).toString();
}

/** Shows why the session is not followed any more. */
function end(error: Error): void {
  batch(() => {
    liveStatus.value = "ended";
    streaming.value = undefined;
    problem.value = `The server does not continue this session: ${error.message}`;
  });
}

/** A record that this page cannot read: to connect again does not help. */
class SessionEnded extends Error {}

async function onEvent({ event, data }: StreamEvent): Promise<void> {
  // What the server of this protocol sends; events and chunks of later releases are left out.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  if (event === "input") await onInput(JSON.parse(data) as InputEvent);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  if (event === "chunk") onChunk(JSON.parse(data) as ChunkEvent);
}

async function onInput({ seq, input }: InputEvent): Promise<void> {
  await worker.call("append", [{ seq, body: JSON.stringify(input) }]).catch((error: unknown) => {
    throw new SessionEnded(messageOf(error));
  });
  await closeEndedQuestions();
  batch(() => {
    if (streamEnds.has(input.type)) streaming.value = undefined;
    if (position.value === count.value) goTo(rows.length);
  });
}

/** The inputs after which nothing that was streamed belongs to the present work. */
const streamEnds: ReadonlySet<string> = new Set([
  "llm-message-completed",
  "re-act-observed",
  "llm-call-failed",
  "re-act-cancelled",
]);

function onChunk(chunk: ChunkEvent): void {
  if (chunk.type === "question" || chunk.type === "question-closed") onQuestionChunk(chunk);
  if (chunk.type !== "text") return;
  const { messageId, offset, text } = chunk;
  const known = streaming.value?.messageId === messageId ? streaming.value.text : "";
  // Text before it was lost: the next stream begins with all of it.
  if (offset > known.length) return;
  streaming.value = { messageId, text: known.slice(0, offset) + text };
}

/** Posts to the session that is followed, which must be `id`. Returns why it was not accepted; undefined if it was. */
export async function post(kind: PostKind, body: object, id = liveId.value): Promise<string | undefined> {
  if (id === undefined || id !== liveId.value) return "This session is no longer followed.";
  // Another session with the same id must not take it.
  const { incarnation } = await worker.call("position");
  return await postTo({ id, incarnation }, kind, body);
}

/** Gives the records that were streamed their digests: the server exports the session once more. */
export async function loadDigests(): Promise<void> {
  const id = liveId.value;
  if (id === undefined) return;
  await worker.call("complete", await exported(id));
  await loadView();
}

/** The exported session as it is now. */
const exported = async (id: string): Promise<string> =>
  await (await request(`sessions/${encodeURIComponent(id)}/export`)).text();
