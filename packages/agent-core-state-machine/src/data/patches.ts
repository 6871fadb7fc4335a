import type { Immutable, Json } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import { jsonSchema } from "../json.ts";
import { frozen } from "./frozen.ts";
import { isStorable } from "../json-copy.ts";

const path = z.string();

/** The schema of a patch. */
export const dataPatchSchema = z.discriminatedUnion("op", [
  z.object({ op: z.literal("add"), path, value: jsonSchema }),
  z.object({ op: z.literal("remove"), path }),
  z.object({ op: z.literal("replace"), path, value: jsonSchema }),
]);

/** One change of application data: an operation of JSON Patch (RFC 6902). `path` is a JSON Pointer; "" is the whole value. */
export type DataPatch = Immutable<z.infer<typeof dataPatchSchema>>;

/** The most levels of application data. A state that contains it can be stored, and read again. */
const maxDataDepth = 100;

type Container = Json[] | { [key: string]: Json };

/**
 * Returns data with patches applied, in order. Undefined if one does not fit: its place does not exist, or an index is not in
 * its array. Copies each array and object that changes once, and shares the rest with `data`.
 */
export function applyPatches(data: Json, patches: readonly DataPatch[]): Json | undefined {
  const writer = new PatchWriter(data);
  return patches.every((patch) => writer.apply(patch)) ? writer.frozenData() : undefined;
}

/** Data that patches are changing. */
class PatchWriter {
  data: Json;
  /** The arrays and objects that this writer has created. */
  readonly #own = new Set<object>();

  constructor(data: Json) {
    this.data = data;
  }

  /** The data, frozen: its own arrays and objects, and what patches have put there. */
  frozenData(): Json {
    for (const container of this.#own) Object.freeze(container);
    return this.data;
  }

  /** Applies a patch. Returns false, and has changed nothing that is visible, if it does not fit. */
  apply(patch: DataPatch): boolean {
    const keys = pointerToKeys(patch.path);
    if (keys === undefined) return false;
    if (patch.op !== "remove" && !isStorable(patch.value, maxDataDepth - keys.length)) return false;
    const last = keys.pop();
    if (last === undefined) {
      if (patch.op === "remove") return false;
      this.data = frozen(patch.value);
      return true;
    }
    const parent = this.#writable(keys);
    if (parent === undefined) return false;
    return Array.isArray(parent) ? patchItem(parent, last, patch) : patchField(parent, last, patch);
  }

  /** The array or object at a path, as a copy of its own. Undefined if it does not exist. */
  #writable(keys: readonly string[]): Container | undefined {
    let container = this.#owned(this.data);
    if (container === undefined) return undefined;
    this.data = container;
    for (const key of keys) {
      const found = childOf(container, key);
      const copy: Container | undefined = found === undefined ? undefined : this.#owned(found);
      if (copy === undefined) return undefined;
      if (Array.isArray(container)) container[Number(key)] = copy;
      else container[key] = copy;
      container = copy;
    }
    return container;
  }

  #owned(value: Json): Container | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    // What this writer has created may be written.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (this.#own.has(value)) return value as Container;
    // A spread, because V8 copies a frozen array item by item in `slice`.
    const copy: Container = isArray(value) ? [...value] : { ...value };
    this.#own.add(copy);
    return copy;
  }
}

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);

/** The keys of a JSON Pointer; undefined if the text is not a pointer. `__proto__` is refused, because it is not a field like others. */
function pointerToKeys(pointer: string): string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) return undefined;
  const keys = pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  return keys.includes("__proto__") ? undefined : keys;
}

/** The JSON Pointer of a path of keys and indices. */
export const keysToPointer = (keys: readonly (string | number)[]): string =>
  keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

function childOf(container: Container, key: string): Json | undefined {
  if (!Array.isArray(container)) return Object.hasOwn(container, key) ? container[key] : undefined;
  return container[indexOf(key, container.length - 1)];
}

/** The index that a key names, from 0 to `last`; -1 if it names none. */
const indexOf = (key: string, last: number): number =>
  /^(0|[1-9][0-9]{0,9})$/.test(key) && Number(key) <= last ? Number(key) : -1;

function patchItem(items: Json[], key: string, patch: DataPatch): boolean {
  if (patch.op === "add") {
    const index = key === "-" ? items.length : indexOf(key, items.length);
    if (index < 0) return false;
    items.splice(index, 0, frozen(patch.value));
    return true;
  }
  const index = indexOf(key, items.length - 1);
  if (index < 0) return false;
  if (patch.op === "remove") items.splice(index, 1);
  else items[index] = frozen(patch.value);
  return true;
}

function patchField(fields: { [key: string]: Json }, key: string, patch: DataPatch): boolean {
  if (patch.op === "add") {
    fields[key] = frozen(patch.value);
    return true;
  }
  if (!Object.hasOwn(fields, key)) return false;
  if (patch.op === "remove") delete fields[key];
  else fields[key] = frozen(patch.value);
  return true;
}
