import { headerToFields, type HeaderFields } from "./header-fields.ts";
import type { EventLog, LogInfo, PageQuery } from "./port.ts";

/**
 * Lists the sessions of a query one after the other, by pages of at most `limit`. A session that exists all the time is listed once,
 * whatever is created or removed meanwhile. A log without `page` lists all its sessions once.
 */
export async function* sessionsOf(log: EventLog, query: PageQuery): AsyncGenerator<LogInfo, void> {
  if (log.page === undefined) {
    yield* pageOf(await log.list(), { ...query, limit: Infinity });
    return;
  }
  for (let { after } = query; ;) {
    const page = await log.page({ ...query, after });
    yield* page;
    if (page.length < query.limit) return;
    after = page.at(-1)?.id;
  }
}

/** Lists the sessions whose header has a field `caller` that begins with a text. A log without `called` reads all its sessions. */
export async function sessionsCalledBy(log: EventLog, prefix: string): Promise<readonly LogInfo[]> {
  return log.called === undefined ? callsOf(await log.list(), prefix) : await log.called(prefix);
}

type Listed = Pick<LogInfo, "id" | "header">;

/** The page of a query, of all sessions ordered by id. */
export function pageOf<Session extends Listed>(
  sessions: readonly Session[],
  { users, after = "", limit }: PageQuery,
  fieldsOf: (session: Session) => HeaderFields = readFields,
): readonly Session[] {
  const wanted = users && new Set(users.map(wellFormed));
  const isWanted = (session: Session): boolean =>
    session.id > after && (wanted === undefined || wanted.has(wellFormed(fieldsOf(session).user)));
  return sessions.filter(isWanted).slice(0, limit);
}

/** The sessions of a caller, of all sessions. */
export const callsOf = <Session extends Listed>(
  sessions: readonly Session[],
  prefix: string,
  fieldsOf: (session: Session) => HeaderFields = readFields,
): readonly Session[] => sessions.filter((session) => fieldsOf(session).caller?.startsWith(prefix) === true);

const readFields = ({ header }: Listed): HeaderFields => headerToFields(header);

const wellFormed = (user: string | null): string | null => user?.toWellFormed() ?? null;
