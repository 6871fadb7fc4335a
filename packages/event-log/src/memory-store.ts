import { LogError } from "./log-error.ts";
import type { MaybePromise } from "./port.ts";
import { maxIdLength, valueToText } from "./validation.ts";

/** The most characters of the text of a memory. */
export const maxMemoryLength = 2_000;
/** The most memories of one user. */
export const maxMemories = 1_000;

/** What is remembered of a user. */
export interface Memory {
  /** 1 to 200 characters. A user has one memory with an id. */
  readonly id: string;
  /** 1 to 2,000 characters. */
  readonly text: string;
  /** When it was remembered, in milliseconds since 1970: a time that a `Date` can have. */
  readonly at: number;
}

/** What to recall. */
export interface MemoryQuery {
  /** What the memories should be about. Any text: it has no syntax. Default: the newest memories. */
  readonly text?: string;
  /** The most memories to return, from 1 to 1,000. */
  readonly limit: number;
}

/**
 * What is remembered of users, across their sessions. Each call names a user, and reads and changes only the memories of that user: of
 * the one whose id is the same, character by character. Rejects with a `LogError`: `InvalidId` for a user or an id that is not a
 * well-formed string of 1 to 200 characters, `InvalidRecord` for another invalid value, and those of the database.
 */
export interface MemoryStore {
  /** Stores a memory, in place of the one with its id. So a call that is repeated stores once. A user has at most 1,000. */
  remember(user: string, memory: Memory): Promise<void>;
  /**
   * The memories that have a word of the text, or one that begins with it, and with `embed` those whose meaning is near; the best
   * first. Resolves with an empty list if there are none.
   */
  recall(user: string, query: MemoryQuery): Promise<readonly Memory[]>;
  /** Removes a memory. Resolves with whether it existed. */
  forget(user: string, id: string): Promise<boolean>;
  /** Removes all memories of a user. */
  forgetUser(user: string): Promise<void>;
}

/** A store that holds a connection. */
export interface DisposableMemoryStore extends MemoryStore, AsyncDisposable {
  close(): Promise<void>;
}

/** Returns the vector of a text: 1 to 4,096 finite numbers, always as many. Texts of similar meaning have vectors of similar direction. */
export type Embed = (text: string) => ArrayLike<number> | Promise<ArrayLike<number>>;

/** A memory as a store keeps it. */
export interface MemoryRow extends Memory {
  /** The words of the text, separated by spaces. */
  readonly words: string;
  /** The numbers of its vector, 4 bytes each; null without `embed`. */
  readonly vector: Uint8Array | null;
}

/** What a database does with the memories of one user. The arguments are valid. */
export interface MemoryRows {
  /** Returns false if the user has the most memories already, and none with this id. */
  put(user: string, row: MemoryRow): MaybePromise<boolean>;
  newest(user: string, limit: number): MaybePromise<readonly Memory[]>;
  /** The memories with one of these words, or one that begins with it if `isPrefix`, the best first. */
  withWords(user: string, words: readonly string[], limit: number): MaybePromise<readonly Memory[]>;
  /** All memories that have a vector. */
  withVectors(user: string): MaybePromise<readonly (Memory & { readonly vector: Uint8Array })[]>;
  remove(user: string, id: string): MaybePromise<boolean>;
  removeAll(user: string): MaybePromise<unknown>;
  close(): MaybePromise<void>;
}

const maxWords = 32;
const maxWordLength = 64;
/** Shorter words match only the same word. */
const minPrefixLength = 3;
const maxVectorLength = 4_096;
/** The last time of a `Date`. */
const maxTime = 8.64e15;
/** How many of each list count, and the constant of reciprocal rank fusion. */
const candidates = 50;
const rankConstant = 60;

/** A store of memories in the rows of a database. */
export function memoriesIn(rows: MemoryRows, embed?: Embed): DisposableMemoryStore {
  const vectorOf = async (text: string): Promise<Float32Array | undefined> =>
    embed === undefined ? undefined : unitVector(await embed(text));
  return {
    async remember(user, memory) {
      const { id, text, at } = checkedMemory(user, memory);
      const vector = await vectorOf(text);
      const bytes = vector === undefined ? null : new Uint8Array(vector.buffer);
      const row = { id, text, at, words: wordsOf(text).join(" "), vector: bytes };
      if (!(await rows.put(user, row)))
        throw invalid(`A user has at most ${maxMemories} memories. Forget some first.`);
    },
    async recall(user, { text = "", limit }) {
      checkId("user", user);
      if (!Number.isInteger(limit) || limit < 1 || limit > maxMemories)
        throw invalid(`limit must be an integer from 1 to ${maxMemories}, got ${valueToText(limit)}.`);
      const query = text.slice(0, maxMemoryLength).toWellFormed();
      if (query.trim() === "") return rows.newest(user, limit);
      const count = Math.max(limit, candidates);
      const words = [...new Set(wordsOf(query))].slice(0, maxWords);
      const found = words.length === 0 ? [] : await rows.withWords(user, words, count);
      const vector = await vectorOf(query);
      const near = vector === undefined ? [] : nearest(await rows.withVectors(user), vector).slice(0, count);
      return fused([found, near]).slice(0, limit);
    },
    async forget(user, id) {
      checkId("user", user);
      return await rows.remove(user, checkId("id", id));
    },
    async forgetUser(user) {
      await rows.removeAll(checkId("user", user));
    },
    async close() {
      await rows.close();
    },
    async [Symbol.asyncDispose]() {
      await rows.close();
    },
  };
}

/** Whether a word also finds longer ones that begin with it. */
export const isPrefix = (word: string): boolean => word.length >= minPrefixLength;

/** A memory from a row of a database. */
export const rowToMemory = (row: Readonly<Record<string, unknown>>): Memory => ({
  id: String(row["id"]),
  text: String(row["text"]),
  at: Number(row["at"]),
});

/** A memory with its vector from a row of a database; nothing for a row without one. */
export function rowToVector(
  row: Readonly<Record<string, unknown>>,
): readonly (Memory & { readonly vector: Uint8Array })[] {
  const { vector } = row;
  return vector instanceof Uint8Array ? [{ ...rowToMemory(row), vector }] : [];
}

const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/**
 * The words of a text: letters and digits in lower case, without accents, so that they have no meaning in the syntax of any database.
 * Languages without spaces are split by their dictionaries.
 */
function wordsOf(text: string): readonly string[] {
  const plain = text
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .toLowerCase();
  return [...segmenter.segment(plain)].flatMap(({ segment }) =>
    (segment.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).map((word) => word.slice(0, maxWordLength).toWellFormed()),
  );
}

/** A vector of length 1: the product of two is the cosine of their angle. */
function unitVector(given: ArrayLike<number>): Float32Array {
  // Callers without types may return any value.
  const count: unknown = Object(given).length;
  if (typeof count === "number" && count > 0 && count <= maxVectorLength) {
    const numbers = Float32Array.from(given);
    const length = Math.hypot(...numbers);
    if (length > 0 && Number.isFinite(length)) return numbers.map((number) => number / length);
  }
  throw invalid(`embed must return 1 to ${maxVectorLength} finite numbers, not all of them 0.`);
}

/** The memories by the angle between their vector and this one. Those with a vector of another length are left out. */
function nearest(rows: Awaited<ReturnType<MemoryRows["withVectors"]>>, to: Float32Array): readonly Memory[] {
  return rows
    .filter(({ vector }) => vector.byteLength === to.byteLength)
    .map(({ vector, ...memory }) => {
      const numbers = new Float32Array(new Uint8Array(vector).buffer);
      return { memory, cosine: numbers.reduce((sum, number, at) => sum + number * (to[at] ?? 0), 0) };
    })
    .toSorted((a, b) => b.cosine - a.cosine)
    .map(({ memory }) => memory);
}

/** One list of several that are sorted by different measures: reciprocal rank fusion. */
function fused(lists: readonly (readonly Memory[])[]): readonly Memory[] {
  const scores = new Map<string, { readonly memory: Memory; readonly score: number }>();
  for (const list of lists) {
    for (const [rank, memory] of list.entries()) {
      const score = (scores.get(memory.id)?.score ?? 0) + 1 / (rankConstant + rank);
      scores.set(memory.id, { memory, score });
    }
  }
  return [...scores.values()].toSorted((a, b) => b.score - a.score).map(({ memory }) => memory);
}

function checkedMemory(user: string, { id, text, at }: Memory): Memory {
  checkId("user", user);
  checkId("id", id);
  if (!isStorable(text, maxMemoryLength) || text.trim() === "") {
    const got = typeof text === "string" ? `${text.length} characters` : valueToText(text);
    throw invalid(
      `The text of a memory must be 1 to ${maxMemoryLength} well-formed characters without NUL, got ${got}.`,
    );
  }
  if (Math.abs(at) <= maxTime) return { id, text, at };
  throw invalid(`at must be milliseconds since 1970, got ${valueToText(at)}.`);
}

/** Returns a user or an id. Callers without types may pass any value. */
function checkId(name: "user" | "id", value: string): string {
  if (isStorable(value, maxIdLength)) return value;
  throw new LogError(
    "InvalidId",
    `The ${name} of a memory must be a well-formed string of 1 to ${maxIdLength} characters without NUL, got ${valueToText(value)}.`,
  );
}

/** Whether every database can store a text unchanged. */
const isStorable = (text: unknown, limit: number): text is string =>
  typeof text === "string" &&
  text !== "" &&
  text.length <= limit &&
  text.isWellFormed() &&
  !text.includes("\0");

const invalid = (message: string): LogError => new LogError("InvalidRecord", message);
