import type { DisposableMemoryStore, Embed, MemoryStore } from "@moora/event-log";
import { expect } from "vitest";

/** Opens the memories of one database. Those of a case share it. */
export type OpenMemories = (options?: { readonly embed?: Embed }) => DisposableMemoryStore;

/** What every store of memories does. */
export interface MemoryStoreCase {
  readonly name: string;
  readonly run: (store: DisposableMemoryStore, open: OpenMemories) => Promise<void>;
}

/** Runs a case with memories that are closed at its end. */
export async function checkMemories({ run }: MemoryStoreCase, open: OpenMemories): Promise<void> {
  await using store = open();
  await run(store, open);
}

const add = async (store: MemoryStore, user: string, ...texts: readonly string[]): Promise<void> => {
  for (const [at, text] of texts.entries()) await store.remember(user, { id: `${at}`, text, at });
};

const found = async (store: MemoryStore, user: string, text?: string): Promise<readonly string[]> => {
  const memories = await store.recall(user, { limit: 1_000, ...(text === undefined ? {} : { text }) });
  return memories.map((memory) => memory.text);
};

/** Users whose ids a careless store would confuse. */
const users: readonly string[] = [
  "ada",
  "ad",
  "adam",
  "ada ",
  " ada",
  "Ada",
  "ADA",
  "a_a",
  "a%a",
  "%",
  "_",
  "*",
  "ada*",
  '"ada"',
  "'ada'",
  "ada' OR '1'='1",
  'ada" OR owner : *',
  "ada OR bob",
  "NOT ada",
  "NEAR(ada bob)",
  "616461",
  "null",
  "undefined",
  "0",
  "$1",
  "?1",
  "ada\n",
  "\u0001ada",
  "\u00e9",
  "e\u0301",
  "\ud83c\udf82",
  "a".repeat(200),
];

/** Queries with the syntax of FTS5, of `tsquery` and of SQL. None of them is syntax here. */
const hostileQueries: readonly string[] = [
  '"',
  "'",
  '"secret',
  "secret*",
  "* secret",
  "secret OR",
  "AND secret",
  "NOT secret",
  "secret NEAR/2",
  "NEAR(secret word, 5)",
  "words : secret",
  "owner : secret",
  "- secret",
  "^secret",
  "(secret",
  "secret)",
  "secret & ! word",
  "secret:*B",
  "secret <-> word",
  "'secret':*",
  "\\",
  "secret\\'",
  "'; DROP TABLE moora_memories; --",
  "\0secret",
  "\ud800secret",
  "secret ".repeat(5_000),
  "s".repeat(100_000),
  "\u00df\u0130\ufb01 \u200d \u0301",
];

const invalidIds: readonly unknown[] = [
  "",
  null,
  undefined,
  7,
  {},
  ["ada"],
  "a\0",
  "\ud800",
  "a".repeat(201),
];

/** Vectors of two directions: food and places. */
const twoDirections: Embed = (text) => (/tea|drink|food/i.test(text) ? [1, 0.1] : [0.1, 1]);

export const memoryStoreCases: readonly MemoryStoreCase[] = [
  {
    name: "finds memories by a word, by the beginning of one, in any case and without accents",
    run: async (store) => {
      await add(
        store,
        "ada",
        "Prefers tea.",
        "Lives in Z\u00fcrich, at the lake.",
        "\u6211\u559c\u6b22\u559d\u8336",
      );
      expect(await found(store, "ada", "TEA")).toEqual(["Prefers tea."]);
      expect(await found(store, "ada", "zur")).toEqual(["Lives in Z\u00fcrich, at the lake."]);
      expect(await found(store, "ada", "Z\u00dcRICH?")).toEqual(["Lives in Z\u00fcrich, at the lake."]);
      expect(await found(store, "ada", "\u559c\u6b22")).toEqual(["\u6211\u559c\u6b22\u559d\u8336"]);
      expect(await found(store, "ada", "coffee")).toEqual([]);
    },
  },
  {
    name: "sorts those with more of the words first, and without words the newest",
    run: async (store) => {
      await add(store, "ada", "Owns a boat.", "Owns a red boat in Bergen.", "Likes red.");
      expect((await found(store, "ada", "red boat Bergen"))[0]).toBe("Owns a red boat in Bergen.");
      expect(await found(store, "ada")).toEqual(["Likes red.", "Owns a red boat in Bergen.", "Owns a boat."]);
      expect(await found(store, "ada", " \n")).toEqual(await found(store, "ada"));
      const [first, ...others] = await store.recall("ada", { text: "red boat Bergen", limit: 1 });
      expect(first).toEqual({ id: "1", text: "Owns a red boat in Bergen.", at: 1 });
      expect(others).toEqual([]);
    },
  },
  {
    name: "stores a memory once for each id, also when calls repeat at the same time",
    run: async (store, open) => {
      const other = open();
      const memory = { id: "same", text: "Prefers tea.", at: 1 };
      await Promise.all([store, other, store].map(async (it) => await it.remember("ada", memory)));
      expect(await store.recall("ada", { text: "tea", limit: 9 })).toEqual([memory]);
      await other.remember("ada", { ...memory, text: "Prefers coffee." });
      expect(await found(store, "ada", "tea")).toEqual([]);
      expect(await found(store, "ada", "coffee")).toEqual(["Prefers coffee."]);
      await other.close();
    },
  },
  {
    name: "never reads, replaces or removes a memory of another user",
    run: async (store) => {
      for (const user of users) await store.remember(user, { id: "1", text: `secret ${user}`, at: 1 });
      for (const user of users) {
        expect(await found(store, user), user).toEqual([`secret ${user}`]);
        for (const query of ["secret", user, ...hostileQueries])
          for (const text of await found(store, user, query)) expect(text, query).toBe(`secret ${user}`);
      }
      for (const [at, user] of users.entries()) {
        expect(await store.forget(user, "1")).toBe(true);
        expect(await store.forget(user, "1")).toBe(false);
        for (const other of users.slice(at + 1)) expect(await found(store, other)).toHaveLength(1);
      }
    },
  },
  {
    name: "throws for no text of a query, whatever its syntax",
    run: async (store) => {
      await add(store, "ada", "A secret word.");
      for (const query of hostileQueries) {
        const texts = await found(store, "ada", query);
        if (/secret(?!s)\b/.test(query.slice(0, 30))) expect(texts, query).toEqual(["A secret word."]);
      }
      expect(await found(store, "ada", "secret")).toHaveLength(1);
    },
  },
  {
    name: "refuses users and ids that are empty, null, too long or not well-formed",
    run: async (store) => {
      await add(store, "ada", "A secret word.");
      for (const value of invalidIds) {
        const id = value as string;
        for (const call of [
          async () => await store.recall(id, { limit: 9 }),
          async () => await store.remember(id, { id: "1", text: "x", at: 1 }),
          async () => await store.remember("ada", { id, text: "x", at: 1 }),
          async () => await store.forget(id, "0"),
          async () => await store.forget("ada", id),
          async () => await store.forgetUser(id),
        ])
          await expect(call()).rejects.toMatchObject({ name: "LogError", code: "InvalidId" });
      }
      expect(await found(store, "ada")).toEqual(["A secret word."]);
    },
  },
  {
    name: "refuses texts that are blank, too long or not well-formed, and limits out of range",
    run: async (store) => {
      const texts: readonly unknown[] = ["", " \n", "x".repeat(2_001), "\ud800", "a\0b", null, undefined, 7];
      for (const text of texts) {
        await expect(store.remember("ada", { id: "1", text: text as string, at: 1 })).rejects.toMatchObject({
          code: "InvalidRecord",
        });
      }
      for (const at of [Number.NaN, Infinity, 1e20, -8.64e15 - 1])
        await expect(store.remember("ada", { id: "1", text: "x", at })).rejects.toThrow(/^at must be/);
      for (const limit of [0, -1, 1.5, 1_001, Number.NaN]) {
        await expect(store.recall("ada", { limit })).rejects.toThrow(
          /^limit must be an integer from 1 to 1000/,
        );
      }
      const longest = "\u6c34".repeat(2_000);
      await store.remember("ada", { id: "1", text: longest, at: 1 });
      expect(await found(store, "ada")).toEqual([longest]);
    },
  },
  {
    name: "keeps at most 1,000 memories of a user, and replaces one of them also then",
    run: async (store) => {
      const facts = Array.from({ length: 1_000 }, (_, at) => ({ id: `${at}`, text: `Fact ${at}.`, at }));
      await Promise.all(facts.map(async (memory) => await store.remember("ada", memory)));
      await expect(store.remember("ada", { id: "more", text: "One more.", at: 1 })).rejects.toThrow(
        "A user has at most 1000 memories. Forget some first.",
      );
      await store.remember("ada", { id: "7", text: "Another fact.", at: 2_000 });
      await store.remember("bob", { id: "more", text: "One more.", at: 1 });
      expect((await found(store, "ada"))[0]).toBe("Another fact.");
      expect(await found(store, "ada")).toHaveLength(1_000);
    },
  },
  {
    name: "forgets a user, and only that one",
    run: async (store) => {
      await add(store, "ada", "Prefers tea.", "Lives in Oslo.");
      await add(store, "bob", "Prefers tea.");
      await store.forgetUser("ada");
      expect(await found(store, "ada")).toEqual([]);
      expect(await found(store, "ada", "tea")).toEqual([]);
      expect(await found(store, "bob", "tea")).toEqual(["Prefers tea."]);
    },
  },
  {
    name: "finds memories by their meaning with embed, beside those with the words",
    run: async (_, open) => {
      await using store = open({ embed: twoDirections });
      await add(store, "ada", "Has a cup of tea each day.", "Lives in Oslo.", "Works in a harbor.");
      await add(store, "bob", "Drinks tea.");
      expect((await found(store, "ada", "What does she drink?"))[0]).toBe("Has a cup of tea each day.");
      expect((await found(store, "ada", "Where is Oslo?"))[0]).toBe("Lives in Oslo.");
      expect(await found(store, "ada", "\ud83c\udf75")).not.toContain("Drinks tea.");
    },
  },
  {
    name: "compares no vectors of different lengths, and keeps memories without one",
    run: async (plain, open) => {
      await add(plain, "ada", "Prefers tea.");
      await using other = open({ embed: () => new Float32Array([1, 2, 3]) });
      await other.remember("ada", { id: "other", text: "Likes boats.", at: 5 });
      await using store = open({ embed: twoDirections });
      expect(await found(store, "ada", "tea")).toEqual(["Prefers tea."]);
      await store.remember("ada", { id: "now", text: "Cooks food.", at: 6 });
      expect(await found(store, "ada", "tea")).toEqual(["Prefers tea.", "Cooks food."]);
    },
  },
  {
    name: "stores nothing when embed fails or returns no vector",
    run: async (_, open) => {
      const results: readonly unknown[] = [[], [0, 0], [Number.NaN], [1e308 * 10], undefined, null, "abc", 7];
      for (const result of [...results, Array.from({ length: 5_000 }, () => 1)]) {
        await using store = open({ embed: () => result as number[] });
        await expect(add(store, "ada", "Prefers tea.")).rejects.toThrow(
          "embed must return 1 to 4096 finite numbers",
        );
      }
      const down = new Error("The service is down.");
      await using store = open({ embed: async () => Promise.reject(down) });
      await expect(add(store, "ada", "Prefers tea.")).rejects.toBe(down);
      await expect(store.recall("ada", { text: "tea", limit: 1 })).rejects.toBe(down);
      expect(await found(store, "ada")).toEqual([]);
    },
  },
  {
    name: "rejects after it is closed",
    run: async (store) => {
      await add(store, "ada", "Prefers tea.");
      await store.close();
      await expect(store.recall("ada", { limit: 1 })).rejects.toMatchObject({ code: "LogWrite" });
      await store.close();
    },
  },
];
