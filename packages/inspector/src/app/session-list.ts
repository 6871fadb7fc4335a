import { signal } from "@preact/signals";
import { notify } from "./copy.tsx";
import { request } from "./live-requests.ts";
import { messageOf } from "./store.ts";

/** A session in the list of a server. */
export interface ListedSession {
  readonly id: string;
  readonly agent: string;
  readonly seq: number;
  /** The time of the last record, in milliseconds since 1970; undefined if the server does not say it. */
  readonly updatedAt?: number;
}

interface ListPage {
  readonly sessions: readonly ListedSession[];
  readonly next: string | null;
}

/** The sessions of the user, those that have changed last first; undefined until they are loaded. */
export const listed = signal<readonly ListedSession[] | undefined>(undefined);
/** Whether the server has more sessions than were loaded. */
export const isListCut = signal(false);

const pageLength = 200;
const maxPages = 10;

/** Loads the sessions of the user. The pages of the server are ordered by id, so that the newest session may be on the last one. */
export async function listSessions(): Promise<void> {
  try {
    const sessions: ListedSession[] = [];
    let next: string | null = "";
    for (let pages = 0; next !== null && pages < maxPages; pages += 1) {
      const page: ListPage = await pageAfter(next);
      sessions.push(...page.sessions);
      ({ next } = page);
    }
    listed.value = sessions.toSorted(byLastChange);
    isListCut.value = next !== null;
  } catch (error) {
    notify(messageOf(error));
  }
}

const pageAfter = async (after: string): Promise<ListPage> =>
  await (
    await request(`sessions?${new URLSearchParams({ limit: String(pageLength), after }).toString()}`)
  ).json();

const byLastChange = (one: ListedSession, other: ListedSession): number =>
  (other.updatedAt ?? 0) - (one.updatedAt ?? 0);
