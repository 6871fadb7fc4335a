import { DataRefused, type Json, type Recipe } from "@moora/agent";
import { isObject } from "@moora/agent-core-effects/internal";
import { jsonCopy } from "@moora/agent-core-state-machine/internal";
import { isSameJson } from "@moora/agent/internal";
import { maxDataOperations, type DataOperation } from "@moora/agent-webui-protocol";

/** What a recipe on application data changes. None if it changes nothing. Throws `DataRefused`, and what the recipe throws. */
export function changeToOperations(data: Json, recipe: Recipe<unknown>): readonly DataOperation[] {
  const draft = structuredClone(data);
  // Callers without types may pass an asynchronous recipe.
  const result: unknown = recipe(draft, data);
  if (result instanceof Promise)
    throw new DataRefused("the recipe must be synchronous, and returned a promise.");
  return changesOf(data, jsonOf(draft));
}

/** To how many levels of the data its differences are looked for: less, and with larger values, the more of them there are. */
const depths = [Number.POSITIVE_INFINITY, 8, 4, 3, 2, 1];

/** The changes, as few as a post may have beside a test. Throws `DataRefused` where that is not possible. */
function changesOf(from: Json, to: Json): readonly DataOperation[] {
  const max = maxDataOperations - 1;
  let count = 0;
  for (const depth of depths) {
    const changes = [...differences({ path: "", depth }, from, to)];
    if (changes.length <= max) return changes;
    count = changes.length;
  }
  throw new DataRefused(
    `the recipe changes ${count} top-level fields or items; one post changes at most ${max}. Use several updates.`,
  );
}

/** A place in the data, and how many levels of it are looked at. */
interface Place {
  readonly path: string;
  readonly depth: number;
}

/** A draft as JSON keeps it. Throws `DataRefused` where JSON would change a value. */
function jsonOf(draft: unknown): Json {
  const copied = jsonCopy(draft);
  if ("copy" in copied) return copied.copy;
  const { path, message } = copied.problem;
  throw new DataRefused(path === "" ? message : `${path}: ${message}`);
}

function* differences(place: Place, from: unknown, to: unknown): Generator<DataOperation, void, undefined> {
  if (isSameJson(from, to)) return;
  if (place.depth > 0) {
    if (isObject(from) && isObject(to)) return yield* fieldDifferences(place, from, to);
    if (Array.isArray(from) && Array.isArray(to)) return yield* itemDifferences(place, from, to);
  }
  yield { op: "replace", path: place.path, value: to };
}

type Fields = Readonly<Record<string, unknown>>;

function* fieldDifferences(
  { path, depth }: Place,
  from: Fields,
  to: Fields,
): Generator<DataOperation, void, undefined> {
  for (const key of Object.keys(from))
    if (!Object.hasOwn(to, key)) yield { op: "remove", path: fieldPath(path, key) };
  for (const [key, value] of Object.entries(to)) {
    if (Object.hasOwn(from, key))
      yield* differences({ path: fieldPath(path, key), depth: depth - 1 }, from[key], value);
    else yield { op: "add", path: fieldPath(path, key), value };
  }
}

/** The items between the equal ones at the beginning and at the end are changed, removed or added. */
function* itemDifferences(
  { path, depth }: Place,
  from: readonly unknown[],
  to: readonly unknown[],
): Generator<DataOperation, void, undefined> {
  const most = Math.min(from.length, to.length);
  let start = 0;
  while (start < most && isSameJson(from[start], to[start])) start += 1;
  let end = 0;
  while (end < most - start && isSameJson(from.at(-1 - end), to.at(-1 - end))) end += 1;
  const common = most - end;
  for (let index = start; index < common; index += 1)
    yield* differences({ path: `${path}/${index}`, depth: depth - 1 }, from[index], to[index]);
  for (let index = from.length - end; index > common; index -= 1)
    yield { op: "remove", path: `${path}/${index - 1}` };
  for (let index = common; index < to.length - end; index += 1)
    yield { op: "add", path: `${path}/${index}`, value: to[index] };
}

const fieldPath = (path: string, key: string): string =>
  `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
