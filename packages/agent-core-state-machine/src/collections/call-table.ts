import type { ToolCallRecord } from "../state.ts";
import { KeyIndex } from "./key-index.ts";
import { ListEdit } from "./list-edit.ts";
import type { List, Sequence } from "./long-list.ts";

type CallRecords = Readonly<Record<string, ToolCallRecord>>;

interface CallEntry {
  readonly id: string;
  readonly record: ToolCallRecord;
}

/** The tool calls of a long conversation by id. Immutable. Versions share entries, so that a write does not copy all of them. */
export class CallTable {
  readonly entries: List<CallEntry>;
  readonly index: KeyIndex<CallEntry>;
  /** The cache of `toRecords`. Not a `#` field: a reactive framework may wrap the table in a proxy, which has no `#` fields. */
  cachedRecords: CallRecords | undefined;

  constructor(entries: List<CallEntry>, index = new KeyIndex(entries, ({ id }) => id)) {
    this.entries = entries;
    this.index = index;
  }

  get(id: string): ToolCallRecord | undefined {
    return recordAt(this.entries, this.index.positionIn(this.entries, id));
  }

  /** All calls as an object. Created once for each table. */
  toRecords(): CallRecords {
    return (this.cachedRecords ??= Object.freeze(toRecords(this.entries)));
  }
}

const recordAt = (entries: Sequence<CallEntry>, position: number): ToolCallRecord | undefined =>
  position < 0 ? undefined : entries.at(position)?.record;

/** Up to this many calls are an object. A larger one is slow to copy, since its keys are a hash table in JavaScript engines. */
const maxObjectCalls = 16;

/** The tool calls of a state: an object by id, or a table if there are more than `maxObjectCalls`. */
export type Calls = CallRecords | CallTable;

/** The call with this id; undefined for an unknown id. */
export const callIn = (calls: Calls, id: string): ToolCallRecord | undefined => {
  if (calls instanceof CallTable) return calls.get(id);
  return Object.hasOwn(calls, id) ? calls[id] : undefined;
};

/** Tool calls that inputs are changing. The object or table from which it was made does not change. */
export class CallsEdit {
  #records: CallRecords;
  #ownRecords: Record<string, ToolCallRecord> | undefined;
  /** How many calls were added to the object. */
  #added = 0;
  #table: TableEdit | undefined;

  constructor(calls: Calls) {
    if (calls instanceof CallTable) {
      this.#table = editOf(calls);
      this.#records = {};
    } else this.#records = calls;
  }

  get(id: string): ToolCallRecord | undefined {
    if (this.#table === undefined) return callIn(this.#records, id);
    const { entries, index } = this.#table;
    return recordAt(entries, index.positionIn(entries, id));
  }

  put(id: string, record: ToolCallRecord): void {
    if (this.#table === undefined) return this.#putInObject(id, record);
    const { entries, index } = this.#table;
    const entry = { id, record };
    const position = index.positionIn(entries, id);
    if (position >= 0) return entries.set(position, entry);
    index.add(entry, entries.length);
    entries.push(entry);
  }

  /** Returns the current calls, of which there are `count`. They are immutable from now on. */
  finish(count: number): Calls {
    this.#ownRecords = undefined;
    if (this.#table !== undefined) return new CallTable(this.#table.entries.finish(), this.#table.index);
    return count > maxObjectCalls ? tableOf(this.#records) : this.#records;
  }

  #putInObject(id: string, record: ToolCallRecord): void {
    this.#records = this.#ownRecords ??= Object.assign({}, this.#records);
    if (!Object.hasOwn(this.#ownRecords, id)) this.#added += 1;
    this.#ownRecords[id] = record;
    if (this.#added > maxObjectCalls) this.#table = editOf(tableOf(this.#records));
  }
}

interface TableEdit {
  readonly entries: ListEdit<CallEntry>;
  readonly index: KeyIndex<CallEntry>;
}

const editOf = ({ entries, index }: CallTable): TableEdit => ({ entries: new ListEdit(entries), index });

function tableOf(records: CallRecords): CallTable {
  const entries = new ListEdit<CallEntry>([]);
  for (const [id, record] of Object.entries(records)) entries.push({ id, record });
  return new CallTable(entries.finish());
}

function toRecords(entries: List<CallEntry>): CallRecords {
  const records: Record<string, ToolCallRecord> = {};
  for (let position = 0; position < entries.length; position += 1) {
    const entry = entries.at(position);
    if (entry !== undefined) records[entry.id] = entry.record;
  }
  return records;
}
