import type { DataPatch, Json } from "@moora/agent-core-state-machine";
import { pointerToKeys } from "@moora/agent-core-state-machine/internal";

/** A schema by which a part of application data can be checked. */
export interface SchemaPart {
  /** Whether a value fits. False also means: not known. */
  fits(value: unknown): boolean;
  /** Undefined for a schema that looks at the whole value, with a refinement for one: every change is checked as the whole. */
  readonly children?: SchemaChildren;
}

/** The schemas within that of an array or object that fits whenever its items or fields fit. */
export interface SchemaChildren {
  /** The schema of an item or field. `anything`: all values fit. Undefined: not known. */
  of(key: string, container: object): SchemaPart | "anything" | undefined;
  /** Whether an array or object fits after this item or field was added or removed. False also means: not known. */
  fitsAfter(op: "add" | "remove", key: string, container: object): boolean;
}

/**
 * Whether data fits after patches if it fitted before. Only what the patches have changed is checked. False also means: not
 * known. The path of each patch must lead to what it has put there.
 */
export function patchesFit(schema: SchemaPart, data: Json, patches: readonly DataPatch[]): boolean {
  /** Arrays and objects that are checked as a whole, although several patches may have changed them. */
  const fitting = new Set<object>();
  return patches.every((patch) => {
    const changed = changedBy(patch, schema, data);
    if (typeof changed === "boolean") return changed;
    const { part, value } = changed;
    if (typeof value !== "object" || value === null) return part.fits(value);
    if (!fitting.has(value) && !part.fits(value)) return false;
    fitting.add(value);
    return true;
  });
}

/** What has to be checked after a patch: the innermost value that contains it and has a schema of its own. Or the result. */
function changedBy(
  { op, path }: DataPatch,
  schema: SchemaPart,
  data: Json,
): { readonly part: SchemaPart; readonly value: unknown } | boolean {
  const keys = pointerToKeys(path) ?? [];
  let part = schema;
  let value: unknown = data;
  for (const [index, key] of keys.entries()) {
    const { children } = part;
    if (children === undefined || typeof value !== "object" || value === null) break;
    const isLast = index === keys.length - 1;
    if (isLast && op !== "replace" && !children.fitsAfter(op, key, value)) return false;
    if (isLast && op === "remove") return true;
    const child = children.of(key, value);
    if (child === undefined || child === "anything") return child === "anything";
    part = child;
    value = Reflect.get(value, key);
  }
  return { part, value };
}
