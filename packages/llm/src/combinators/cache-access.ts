import { isJsonObject } from "../json.ts";
import type { LlmAnswer, LlmCache } from "./llm-cache.ts";
import type { LlmClock } from "./rate-limiter.ts";
import { untilAborted } from "./until-aborted.ts";

/** How a cache is used: how long it may take, and the signal of the call that waits for it. */
export interface CacheAccess {
  readonly cache: LlmCache;
  readonly clock: LlmClock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** What was found in a cache, with the warnings for the outcome. */
export interface Found {
  readonly answer?: LlmAnswer;
  readonly warnings: readonly string[];
}

/** Reads an answer, as a copy. An error of the cache and an invalid value are warnings; an aborted wait finds nothing. */
export async function readCache(access: CacheAccess, digest: string): Promise<Found> {
  const { cache, timeoutMs } = access;
  try {
    const found: unknown = await inTime(() => cache.get(digest), access);
    if (found === late) return { warnings: [`the cache was not read within ${timeoutMs} ms`] };
    if (found === undefined || found === null) return { warnings: [] };
    const copy: unknown = structuredClone(found);
    if (isAnswer(copy)) return { answer: copy, warnings: [] };
    return { warnings: ["the cache has an invalid answer, which was not used"] };
  } catch (error) {
    return { warnings: [`the cache could not be read: ${String(error)}`] };
  }
}

/** Stores a copy of an answer. Resolves to the warnings for the outcome. */
export async function writeCache(
  access: CacheAccess,
  digest: string,
  answer: LlmAnswer,
): Promise<readonly string[]> {
  const { cache, timeoutMs } = access;
  try {
    const copy = structuredClone(answer);
    const stored = await inTime(() => cache.set(digest, copy), access);
    return stored === late ? [`the answer was not stored in the cache within ${timeoutMs} ms`] : [];
  } catch (error) {
    return [`the answer was not stored in the cache: ${String(error)}`];
  }
}

const late = Symbol("late");

/** The result of a work of the cache; undefined when the signal aborts, and `late` after the time that it may take. */
async function inTime(work: () => unknown, { clock, timeoutMs, signal }: CacheAccess): Promise<unknown> {
  const timeout = Promise.withResolvers<typeof late>();
  const cancel = clock.after(timeoutMs, () => timeout.resolve(late));
  try {
    return await untilAborted(Promise.race([work(), timeout.promise]), signal);
  } finally {
    cancel();
  }
}

/** Whether a stored value is an answer with all that `cached` and its callers read of one. */
function isAnswer(value: unknown): value is LlmAnswer {
  if (!isJsonObject(value)) return false;
  const { ok, turn, model, usage, finish, answeredBy } = value;
  if (ok !== true || typeof model !== "string" || !isJsonObject(usage) || !isJsonObject(turn)) return false;
  const hasParts = Array.isArray(turn["parts"]) && turn["parts"].every(isPart);
  const isFinish = isJsonObject(finish) && typeof finish["unified"] === "string";
  return hasParts && typeof turn["origin"] === "string" && isFinish && isAnswerer(answeredBy);
}

const isAnswerer = (value: unknown): boolean =>
  value === undefined ||
  (isJsonObject(value) && typeof value["caller"] === "string" && Array.isArray(value["reasons"]));

/** The fields of each type of part that are texts. */
const textFields: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  reasoning: ["text"],
  "tool-call": ["id", "name", "arguments"],
  file: [],
  opaque: [],
};

function isPart(part: unknown): boolean {
  const type = isJsonObject(part) ? part["type"] : undefined;
  if (!isJsonObject(part) || typeof type !== "string" || !Object.hasOwn(textFields, type)) return false;
  return textFields[type]?.every((field) => typeof part[field] === "string") ?? false;
}
