import { DataRefused, type Json, type Recipe } from "@moora/agent";
import { differenceOf, jsonCopy } from "@moora/agent-core-state-machine/internal";
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
  for (const maxDepth of depths) {
    const changes = differenceOf(from, to, { maxDepth, keepsRoot: true });
    if (changes.length <= max) return changes;
    count = changes.length;
  }
  throw new DataRefused(
    `the recipe changes ${count} top-level fields or items; one post changes at most ${max}. Use several updates.`,
  );
}

/** A draft as JSON keeps it. Throws `DataRefused` where JSON would change a value. */
function jsonOf(draft: unknown): Json {
  const copied = jsonCopy(draft);
  if ("copy" in copied) return copied.copy;
  const { path, message } = copied.problem;
  throw new DataRefused(path === "" ? message : `${path}: ${message}`);
}
