/** A field or an item of a JSON value, as the tree shows it. */
export interface TreeNode {
  readonly key: string;
  readonly kind: "object" | "array" | "string" | "number" | "boolean" | "null";
  /** The value, or the beginning of a long text; empty for an object or an array. */
  readonly preview: string;
  /** The number of fields or items. */
  readonly size: number;
  /** Whether this record added the value, or changed it or something within it. */
  readonly change: "added" | "changed" | "none";
}

/** A part of the fields or items of a value. `total` is the number of all. */
export interface TreeChildren {
  readonly nodes: readonly TreeNode[];
  readonly total: number;
}

/** How many fields or items are shown at a time. */
export const childrenPerPage = 100;

/** The longest preview of a text. */
const maxPreview = 400;

/**
 * The fields or items of the value at a path, from an index on. `before` is the same value before the record: what is not the
 * same object has changed, because states share what did not change.
 */
export function childrenAt(after: unknown, before: unknown, path: readonly string[], from = 0): TreeChildren {
  const value = valueAt(after, path);
  const earlier = valueAt(before, path);
  const keys = keysOf(value);
  return {
    total: keys.length,
    nodes: keys.slice(from, from + childrenPerPage).map((key) => nodeOf(key, fieldOf(value, key), earlier)),
  };
}

/** The value at a path; undefined if there is none. */
export const valueAt = (root: unknown, path: readonly string[]): unknown =>
  path.reduce((value, key) => fieldOf(value, key), root);

const keysOf = (value: unknown): readonly string[] =>
  typeof value === "object" && value !== null ? Object.keys(value) : [];

const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;

function nodeOf(key: string, value: unknown, parentBefore: unknown): TreeNode {
  const earlier = fieldOf(parentBefore, key);
  const change = earlier === undefined ? "added" : earlier === value ? "none" : "changed";
  return { key, kind: kindOf(value), preview: previewOf(value), size: keysOf(value).length, change };
}

function kindOf(value: unknown): TreeNode["kind"] {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "string") return "string";
  if (typeof value === "number") return "number";
  return typeof value === "boolean" ? "boolean" : "object";
}

function previewOf(value: unknown): string {
  if (typeof value !== "string") return typeof value === "object" && value !== null ? "" : String(value);
  if (value.length <= maxPreview) return value;
  return `${value.slice(0, maxPreview).toWellFormed()}… (${value.length} characters)`;
}
