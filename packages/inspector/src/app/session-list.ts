import type { SessionPage, SessionSummary } from "@moora/agent-webui-protocol";
import { batch, computed, signal } from "@preact/signals";
import { notify } from "./copy.tsx";
import { listAgents, needsToken, requestJson } from "./live-requests.ts";
import { messageOf } from "./store.ts";

/** The sessions of the user, those with open questions first, then those that have changed last; undefined until the first page of them is loaded. */
export const listed = signal<readonly SessionSummary[] | undefined>(undefined);
/** Whether the server has more sessions than were loaded. */
export const isListCut = signal(false);

/** What the user has typed to find sessions. */
export const sought = signal("");

/** The listed sessions that have each word that the user has typed. */
export const soughtSessions = computed(() => {
  const words = sought.value.toLowerCase().split(/\s+/);
  return listed.value?.filter((session) => {
    const text = searchTextOf(session);
    return words.every((word) => text.includes(word));
  });
});

const searchTextOf = ({ id, agent, title = "", state }: SessionSummary): string =>
  `${title} ${id} ${agent} ${state?.control ?? ""}`.toLowerCase();

/** The agents of which the user may create sessions. */
export const agents = signal<readonly string[]>([]);

/** Loads the names of the agents. Servers of earlier releases do not list them. */
export async function loadAgents(): Promise<void> {
  agents.value = await listAgents().catch(() => []);
}

const pageLength = 200;
const maxPages = 10;

/** Loads the sessions of the user. A load that waits for its turn is that of all who ask for one meanwhile. */
export const listSessions = (): Promise<void> =>
  (waiting ??= inTurn(async () => {
    waiting = undefined;
    await listOtherSessions(await firstSessions());
  }));

/** Loads the sessions of the user, with `afterFirst` after the first page. */
export const beginSessions = (afterFirst: () => Promise<void>): Promise<void> =>
  inTurn(async () => {
    const first = await firstSessions();
    await afterFirst();
    await listOtherSessions(first);
  });

let waiting: Promise<void> | undefined;
let last: Promise<void> = Promise.resolve();

/** Runs one load after the other, so that none ends with an older answer than one before it. */
const inTurn = (load: () => Promise<void>): Promise<void> => (last = last.then(load, load));

/** The first page; undefined if it could not be loaded, which is reported to the user. */
const firstSessions = (): Promise<SessionPage | undefined> => withPage({ sessions: [], next: "" });

/**
 * Loads the pages after the first one: those of the server are ordered by id, so that the newest session may be on the last one. If one
 * fails, those before it stay in the list.
 */
async function listOtherSessions(first: SessionPage | undefined): Promise<void> {
  if (first === undefined) return;
  let loaded: SessionPage | undefined = first;
  for (let pages = 1; loaded !== undefined && loaded.next !== null && pages < maxPages; pages += 1)
    loaded = await withPage(loaded);
  batch(() => {
    if (loaded !== undefined) listed.value = loaded.sessions.toSorted(byOrder);
    isListCut.value = loaded?.next !== null;
  });
}

/** Loads the page after those that were loaded, shows it, and returns them all; undefined if that has failed. */
async function withPage({ sessions, next: after }: SessionPage): Promise<SessionPage | undefined> {
  try {
    const { sessions: added, next } = await pageAfter(after ?? "");
    // What an earlier list has from later pages stays until those are loaded.
    const byId = new Map([...(listed.value ?? []), ...added].map((session) => [session.id, session]));
    listed.value = [...byId.values()].toSorted(byOrder);
    return { sessions: [...sessions, ...added], next };
  } catch (error) {
    // The page asks for a token.
    if (!needsToken.value) notify(messageOf(error));
    return undefined;
  }
}

const pageAfter = async (after: string): Promise<SessionPage> =>
  await requestJson(`sessions?${new URLSearchParams({ limit: String(pageLength), after }).toString()}`);

const byOrder = (one: SessionSummary, other: SessionSummary): number =>
  Number(waits(other)) - Number(waits(one)) || (other.updatedAt ?? 0) - (one.updatedAt ?? 0);

/** Whether a session has an open question. */
export const waits = ({ state }: SessionSummary): boolean => state !== undefined && state.questions > 0;
