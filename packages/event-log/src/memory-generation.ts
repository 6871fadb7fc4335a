import { headerToFields, type HeaderFields } from "./header-fields.ts";
import { callsOf, pageOf } from "./list-sessions.ts";
import type { DueQuery, DueSession, Lease, LogInfo, LogRecord, PageQuery, Snapshot } from "./port.ts";
import { isBefore, sortByDue, sortById } from "./rows.ts";

/** One generation of a session in a memory log: the data between one `create` of an id and its removal. */
export interface MemoryGeneration {
  readonly id: string;
  readonly header: string;
  records: LogRecord[];
  lease: Lease | undefined;
  /** When the work of the session continues; null if only new records can continue it. */
  due: number | null;
  snapshot: Snapshot | undefined;
  isRemoved: boolean;
}

type Generations = ReadonlyMap<string, MemoryGeneration>;

export const listIn = (generations: Generations): readonly LogInfo[] => sorted(generations).map(toInfo);

export const pageIn = (generations: Generations, query: PageQuery): readonly LogInfo[] =>
  pageOf(sorted(generations), query, fieldsOf).map(toInfo);

export const calledIn = (generations: Generations, prefix: string): readonly LogInfo[] =>
  callsOf(sorted(generations), prefix, fieldsOf).map(toInfo);

export function dueIn(generations: Generations, { now, limit, after }: DueQuery): readonly DueSession[] {
  const sessions = [...generations.values()].flatMap(({ id, header, due, lease }): DueSession[] =>
    due === null || due > now || (lease !== undefined && lease.until > now) ? [] : [{ id, header, due }],
  );
  return sortByDue(sessions)
    .filter((session) => after === undefined || isBefore(after, session))
    .slice(0, limit);
}

const sorted = (generations: Generations): readonly MemoryGeneration[] => sortById([...generations.values()]);

const toInfo = ({ id, header, records }: MemoryGeneration): LogInfo => ({ id, head: records.length, header });

const fieldsOfGenerations = new WeakMap<MemoryGeneration, HeaderFields>();

/** The fields of a header, which are read once. */
function fieldsOf(generation: MemoryGeneration): HeaderFields {
  const known = fieldsOfGenerations.get(generation);
  if (known !== undefined) return known;
  const fields = headerToFields(generation.header);
  fieldsOfGenerations.set(generation, fields);
  return fields;
}
