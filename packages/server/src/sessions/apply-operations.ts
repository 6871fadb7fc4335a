import { DataRefused, canonicalJson } from "@moora/agent";
import type { DataOperation } from "@moora/agent-webui-protocol";
import { HttpProblem } from "../problem.ts";

/** The draft of application data: JSON that may be changed. */
type Container = unknown[] | Record<string, unknown>;

/** Applies operations of JSON Patch (RFC 6902) to a draft, in order. Throws `DataRefused` for one that does not apply, and `test-failed`. */
export function applyOperations(draft: unknown, operations: readonly DataOperation[]): void {
  for (const operation of operations) applyOperation(draft, operation);
}

function applyOperation(draft: unknown, operation: DataOperation): void {
  const { op, path } = operation;
  const keys = pointerToKeys(path);
  if (op === "test") return checkTest(draft, keys, operation);
  const last = keys.pop();
  if (last === undefined) throw refused(path, "the data as a whole cannot be replaced");
  const parent = keys.reduce((value: unknown, key) => existingChildOf(value, key, path), draft);
  if (!isContainer(parent)) throw refused(path, "its parent is not an array or an object");
  if (op === "add")
    return Array.isArray(parent) ? insert(parent, last, operation) : put(parent, last, operation);
  existingChildOf(parent, last, path);
  if (op === "replace") put(parent, last, operation);
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
}

/** Throws `test-failed` unless there is a value at the path, and it is that of the operation. */
function checkTest(draft: unknown, keys: readonly string[], { path, value: expected }: WithValue): void {
  const value = keys.reduce(childOf, draft);
  if (value !== undefined && canonicalJson(value) === canonicalJson(expected)) return;
  const problem = value === undefined ? "does not exist" : "has another value";
  throw new HttpProblem("test-failed", `${JSON.stringify(path)} ${problem}. Nothing was changed.`);
}

/** The keys of a JSON Pointer. `__proto__` is refused, because it is not a field like others. */
function pointerToKeys(path: string): string[] {
  if (path === "") return [];
  const keys = path
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (path.startsWith("/") && !/~(?![01])/.test(path) && !keys.includes("__proto__")) return keys;
  throw refused(path, "it is not a JSON Pointer");
}

/** The value at a key of a container; undefined if there is none. JSON has no undefined. */
function childOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return isIndex(key) ? value[Number(key)] : undefined;
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function existingChildOf(value: unknown, key: string, path: string): unknown {
  const child = childOf(value, key);
  if (child === undefined) throw refused(path, "it does not exist");
  return child;
}

type WithValue = Extract<DataOperation, { value: unknown }>;

function put(parent: Container, key: string, { value }: WithValue): void {
  if (Array.isArray(parent)) parent[Number(key)] = value;
  else parent[key] = value;
}

function insert(parent: unknown[], key: string, { value, path }: WithValue): void {
  const index = key === "-" ? parent.length : Number(key);
  if (key !== "-" && (!isIndex(key) || index > parent.length)) throw refused(path, "it is not an index");
  parent.splice(index, 0, value);
}

const isIndex = (key: string): boolean => /^(0|[1-9]\d{0,9})$/.test(key);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  isContainer(value) && !Array.isArray(value);

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

const refused = (path: string, problem: string): DataRefused =>
  new DataRefused(`${JSON.stringify(path)} cannot be changed: ${problem}.`);
