import type { SessionPage, SessionSummary } from "@moora/agent-webui-protocol";
import { batch, signal } from "@preact/signals";
import { notify } from "./copy.tsx";
import { request } from "./live-requests.ts";
import { messageOf } from "./store.ts";

/** The sessions of the user, those that have changed last first; undefined until the first page of them is loaded. */
export const listed = signal<readonly SessionSummary[] | undefined>(undefined);
/** Whether the server has more sessions than were loaded. */
export const isListCut = signal(false);

const pageLength = 200;
const maxPages = 10;

/** Loads the sessions of the user. The pages of the server are ordered by id, so that the newest session may be on the last one. */
export const listSessions = async (): Promise<void> => await listOtherSessions(await listFirstSessions());

/** Loads the first page, for `listOtherSessions`; undefined if that has failed, which is reported to the user. */
export const listFirstSessions = async (): Promise<SessionPage | undefined> =>
  await withPage({ sessions: [], next: "" });

/** Loads the pages after the first one. If one fails, those before it stay in the list. */
export async function listOtherSessions(first: SessionPage | undefined): Promise<void> {
  if (first === undefined) return;
  let loaded: SessionPage | undefined = first;
  for (let pages = 1; loaded !== undefined && loaded.next !== null && pages < maxPages; pages += 1)
    loaded = await withPage(loaded);
  batch(() => {
    if (loaded !== undefined) listed.value = loaded.sessions.toSorted(byLastChange);
    isListCut.value = loaded?.next !== null;
  });
}

/** Loads the page after those that were loaded, shows it, and returns them all; undefined if that has failed. */
async function withPage({ sessions, next: after }: SessionPage): Promise<SessionPage | undefined> {
  try {
    const { sessions: added, next } = await pageAfter(after ?? "");
    // What an earlier list has from later pages stays until those are loaded.
    const byId = new Map([...(listed.value ?? []), ...added].map((session) => [session.id, session]));
    listed.value = [...byId.values()].toSorted(byLastChange);
    return { sessions: [...sessions, ...added], next };
  } catch (error) {
    notify(messageOf(error));
    return undefined;
  }
}

const pageAfter = async (after: string): Promise<SessionPage> =>
  await (
    await request(`sessions?${new URLSearchParams({ limit: String(pageLength), after }).toString()}`)
  ).json();

const byLastChange = (one: SessionSummary, other: SessionSummary): number =>
  (other.updatedAt ?? 0) - (one.updatedAt ?? 0);
