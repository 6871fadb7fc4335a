import type { Control, OpenCall, OpenCallStatus } from "../control/control.ts";
import { lazy } from "./lazy-property.ts";
import { listsKey } from "./state-lists.ts";

/** What open calls are found by, one bit each: the type of their status, or that they have reserved a part of the budget. */
export const callFlags: Readonly<Record<OpenCallStatus["type"] | "reserved", number>> = {
  queued: 1,
  running: 2,
  retrying: 4,
  probing: 8,
  asking: 16,
  reserved: 32,
};

const flagsOf = ({ status, reserved }: OpenCall): number =>
  callFlags[status.type] | (reserved === undefined ? 0 : callFlags.reserved);

/** All flags. */
const anyCall = -1;

/** The length of a part. */
const partLength = 32;

/** Up to this many open calls are a plain array, which is faster to copy than a list. */
const maxArrayCalls = 64;

/** A settled call leaves its place empty. `flags` are those of all its calls. */
interface Part {
  readonly calls: readonly (OpenCall | undefined)[];
  readonly flags: number;
}

/**
 * The open calls of a large turn, behind a property that shows them as a plain array. Immutable but for `cachedArray`. Versions
 * share parts, so that a write does not copy all calls, and one map of the places, since a call keeps its place until it is
 * settled. Not extensible, and of a class of its own, so that no reactive framework wraps or copies it.
 */
class OpenCallList {
  readonly parts: readonly Part[];
  readonly places: ReadonlyMap<string, number>;
  /** The calls as a plain array, once they have been read. */
  cachedArray: readonly OpenCall[] | undefined;

  constructor(parts: readonly Part[], places: ReadonlyMap<string, number>) {
    this.parts = parts;
    this.places = places;
    this.cachedArray = undefined;
    Object.preventExtensions(this);
  }
}

function partOf(calls: Part["calls"]): Part {
  let all = 0;
  for (const call of calls) if (call !== undefined) all |= flagsOf(call);
  return { calls, flags: all };
}

/** The calls with one of these flags, in order. */
function* withFlags({ parts }: OpenCallList, wanted: number): Generator<OpenCall, void, undefined> {
  for (const part of parts) {
    if ((part.flags & wanted) === 0) continue;
    for (const call of part.calls) if (call !== undefined && (flagsOf(call) & wanted) !== 0) yield call;
  }
}

/** A control state that runs calls. */
type Running = Extract<Control, { type: "Acting" | "ParallelActing" | "WaitingForHuman" }>;

interface WithList {
  readonly [listsKey]?: OpenCallList;
}

/** The property `calls` of a control state with a list: plain data that is created when it is read. */
const lazyCalls = lazy(
  (list: OpenCallList) => (list.cachedArray ??= Object.freeze([...withFlags(list, anyCall)])),
);

/** The list of a control state; undefined for one whose calls are a plain array. */
const listOf = (control: Control & WithList): OpenCallList | undefined => control[listsKey];

/** The calls of a control state as a list. */
function toList({ calls }: Running): OpenCallList {
  const parts: Part[] = [];
  for (let from = 0; from < calls.length; from += partLength)
    parts.push(partOf(calls.slice(from, from + partLength)));
  return new OpenCallList(parts, new Map(calls.map(({ id }, place) => [id, place])));
}

/**
 * The control state with another version of an open call, frozen if it was; without the call, for undefined. The same state if the call
 * is not open. Many calls become a list, but not in a custom state, in which few inputs change them.
 */
export function putCall(control: Control, id: string, call: OpenCall | undefined): Control {
  const changed = withCall(control, id, call);
  return Object.isFrozen(control) ? Object.freeze(changed) : changed;
}

function withCall(control: Control, id: string, call: OpenCall | undefined): Control {
  if (!("calls" in control)) return control;
  const list = listOf(control);
  if (control.type === "Custom" || (list === undefined && control.calls.length <= maxArrayCalls)) {
    const index = indexOf(control.calls, id);
    if (index < 0) return control;
    const calls = [...control.calls];
    calls.splice(index, 1, ...(call === undefined ? [] : [call]));
    return { ...control, calls: Object.isFrozen(control) ? Object.freeze(calls) : calls };
  }
  const { parts, places } = list ?? toList(control);
  const place = places.get(id) ?? -1;
  const at = Math.floor(place / partLength);
  const calls = parts[at]?.calls;
  if (calls?.[place % partLength] === undefined) return control;
  const part = partOf(calls.with(place % partLength, call));
  const changed: object = { type: control.type };
  Object.defineProperty(changed, "calls", lazyCalls);
  Object.defineProperty(changed, listsKey, { value: new OpenCallList(parts.with(at, part), places) });
  // It has the two properties of the control state.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return changed as Running;
}

/** The index of the call with this id, or -1. A loop, because the methods of frozen arrays are slow. */
function indexOf(calls: readonly OpenCall[], id: string): number {
  for (let index = 0; index < calls.length; index += 1) if (calls[index]?.id === id) return index;
  return -1;
}

/** The open calls of a control state; none in a state without calls. */
export const openCallsOf = (control: Control): readonly OpenCall[] =>
  "calls" in control ? control.calls : [];

/** The open call with this id; undefined if it is not open. */
export function openCallOf(control: Control, id: string): OpenCall | undefined {
  const list = listOf(control);
  if (list === undefined) {
    const calls = openCallsOf(control);
    return calls[indexOf(calls, id)];
  }
  const place = list.places.get(id) ?? -1;
  return list.parts[Math.floor(place / partLength)]?.calls[place % partLength];
}

/** The open calls with one of these `callFlags`, in order. In a large turn, parts without such a call are skipped. */
export function openCallsWith(control: Control, flags: number): Iterable<OpenCall> {
  const list = listOf(control);
  if (list !== undefined) return withFlags(list, flags);
  const found: OpenCall[] = [];
  for (const call of openCallsOf(control)) if ((flagsOf(call) & flags) !== 0) found.push(call);
  return found;
}

/** Whether a call is open that has one of these `callFlags`. Default: any call. */
export function hasOpenCall(control: Control, flags: number = anyCall): boolean {
  const list = listOf(control);
  if (list !== undefined) return withFlags(list, flags).next().done !== true;
  for (const call of openCallsOf(control)) if ((flagsOf(call) & flags) !== 0) return true;
  return false;
}
