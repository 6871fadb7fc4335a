import type { Control, OpenCall, OpenCallStatus } from "../control/control.ts";

/** What open calls are looked up by: the type of their status, or that they have reserved a part of the budget. */
export type CallMark = OpenCallStatus["type"] | "reserved";

/** One bit for each mark. */
const bits: Readonly<Record<CallMark, number>> = {
  queued: 1,
  running: 2,
  retrying: 4,
  probing: 8,
  asking: 16,
  reserved: 32,
};

const bitsOf = ({ status, reserved }: OpenCall): number =>
  bits[status.type] | (reserved === undefined ? 0 : bits.reserved);

/** The length of a part. */
const partLength = 32;

/** Up to this many open calls are a plain array, which is faster to copy than a list. */
const maxArrayCalls = 64;

/** A settled call leaves its place empty. `bits` are those of all calls of the part. */
interface Part {
  readonly calls: readonly (OpenCall | undefined)[];
  readonly bits: number;
}

function partOf(calls: Part["calls"]): Part {
  let all = 0;
  for (const call of calls) if (call !== undefined) all |= bitsOf(call);
  return { calls, bits: all };
}

/**
 * The open calls of a large batch. Immutable. Versions share parts, so that a write does not copy all calls, and one map of
 * the places, since a call keeps its place until it is settled.
 */
export class OpenCallList {
  readonly length: number;
  readonly parts: readonly Part[];
  readonly places: ReadonlyMap<string, number>;
  /** The cache of `toArray`. Not a `#` field: a reactive framework may wrap the list in a proxy, which has no `#` fields. */
  cachedArray: readonly OpenCall[] | undefined;

  constructor(length: number, parts: readonly Part[], places: ReadonlyMap<string, number>) {
    this.length = length;
    this.parts = parts;
    this.places = places;
  }

  get(id: string): OpenCall | undefined {
    const place = this.places.get(id) ?? -1;
    return this.parts[Math.floor(place / partLength)]?.calls[place % partLength];
  }

  /** The list with another version of the open call with this id; without the call, for undefined. */
  with(id: string, call: OpenCall | undefined): OpenCallList {
    const place = this.places.get(id) ?? 0;
    const at = Math.floor(place / partLength);
    const calls = this.parts[at]?.calls.slice() ?? [];
    calls[place % partLength] = call;
    const parts = this.parts.slice();
    parts[at] = partOf(calls);
    return new OpenCallList(this.length - (call === undefined ? 1 : 0), parts, this.places);
  }

  /** All calls as an array. Created once for each list. */
  toArray(): readonly OpenCall[] {
    return (this.cachedArray ??= [...this.withBits(-1)]);
  }

  /** The calls with one of these bits, in order. */
  *withBits(wanted: number): Generator<OpenCall, void, undefined> {
    for (const part of this.parts) {
      if ((part.bits & wanted) === 0) continue;
      for (const call of part.calls) if (call !== undefined && (bitsOf(call) & wanted) !== 0) yield call;
    }
  }
}

/** Calls as a list; undefined if there are few, or if two have the same id. */
export function toList(calls: readonly OpenCall[]): OpenCallList | undefined {
  if (calls.length <= maxArrayCalls) return undefined;
  const places = new Map(calls.map(({ id }, place) => [id, place]));
  if (places.size < calls.length) return undefined;
  const parts: Part[] = [];
  for (let from = 0; from < calls.length; from += partLength)
    parts.push(partOf(calls.slice(from, from + partLength)));
  return new OpenCallList(calls.length, parts, places);
}

/** A control state with calls. */
export type Calling = Extract<Control, { calls: readonly OpenCall[] }>;

/** A property of control states with a list. Not enumerable, so that copies and JSON do not contain it. */
const listKey: unique symbol = Symbol("openCalls");

interface WithList {
  readonly [listKey]?: OpenCallList;
}

/** The property `calls` of a control state with a list: plain data that is created when it is read. All of them share it. */
const lazyCalls: PropertyDescriptor = {
  get(this: WithList) {
    return this[listKey]?.toArray();
  },
  enumerable: true,
  configurable: true,
};

/** The list of a control state; undefined for one whose calls are a plain array. */
export const listOf = (control: Control & WithList): OpenCallList | undefined => control[listKey];

/** A control state whose open calls are those of a list. */
export function withList(control: Calling, list: OpenCallList): Calling {
  const fields: Readonly<Record<string, unknown>> = control;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    if (key === "calls") Object.defineProperty(copy, key, lazyCalls);
    else copy[key] = fields[key];
  }
  Object.defineProperty(copy, listKey, { value: list });
  // It has the properties of the control state.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return copy as unknown as Calling;
}

/** The open calls of a control state; none in a state without calls. */
export const openCallsOf = (control: Control): readonly OpenCall[] =>
  "calls" in control ? control.calls : [];

/** How many calls are open. Creates no array. */
export const openCallCount = (control: Control): number =>
  listOf(control)?.length ?? openCallsOf(control).length;

/** The open call with this id; undefined if it is not open. */
export const openCallOf = (control: Control, id: string): OpenCall | undefined => {
  const list = listOf(control);
  return list === undefined ? openCallsOf(control).find((call) => call.id === id) : list.get(id);
};

/** Whether an open call has a mark. */
export const hasCallWith = (control: Control, mark: CallMark): boolean =>
  listOf(control)?.parts.some((part) => (part.bits & bits[mark]) !== 0) ??
  openCallsOf(control).some((call) => (bitsOf(call) & bits[mark]) !== 0);

/** The open calls with one of these marks, in order. In a large batch, calls without a mark are passed in parts. */
export function openCallsWith(control: Control, ...marks: readonly CallMark[]): Iterable<OpenCall> {
  let wanted = 0;
  for (const mark of marks) wanted |= bits[mark];
  return (
    listOf(control)?.withBits(wanted) ?? openCallsOf(control).filter((call) => (bitsOf(call) & wanted) !== 0)
  );
}
