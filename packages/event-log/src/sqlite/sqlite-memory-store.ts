import type { SqliteOptions } from "../sqlite.ts";
import { LogError } from "../log-error.ts";
import { andThen } from "../maybe-promise.ts";
import {
  isPrefix,
  maxMemories,
  memoriesIn,
  rowToMemory,
  rowToVector,
  type DisposableMemoryStore,
  type Embed,
  type MemoryRows,
} from "../memory-store.ts";
import type { MaybePromise } from "../port.ts";
import { optionForms, validateOptions, type OptionForms } from "../validate-options.ts";
import { validateLocation } from "../validation.ts";
import { Connection } from "./connection.ts";
import { loadSqlite } from "./load-sqlite.ts";

/** Options of {@link sqliteMemoryStore}. */
export interface SqliteMemoryStoreOptions extends Pick<SqliteOptions, "busyTimeoutMs" | "openDatabase"> {
  /** Finds memories by their meaning, too. Default: only by their words. */
  readonly embed?: Embed;
}

const forms: OptionForms<SqliteMemoryStoreOptions> = {
  busyTimeoutMs: optionForms.milliseconds,
  openDatabase: optionForms.function,
  embed: optionForms.function,
};

/**
 * The words are indexed with their owner, the user in hexadecimal digits: a search reads the entries of one user only. Triggers keep
 * the index the same as the table.
 */
const tables: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS moora_memories (
    number INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    at REAL NOT NULL,
    owner TEXT NOT NULL GENERATED ALWAYS AS (hex(user)) VIRTUAL,
    words TEXT NOT NULL,
    vector BLOB,
    UNIQUE (user, id)
  ) STRICT`,
  `CREATE TRIGGER IF NOT EXISTS moora_memory_added AFTER INSERT ON moora_memories BEGIN
    INSERT INTO moora_memory_words (rowid, owner, words) VALUES (new.number, hex(new.user), new.words);
  END`,
  `CREATE TRIGGER IF NOT EXISTS moora_memory_removed AFTER DELETE ON moora_memories BEGIN
    INSERT INTO moora_memory_words (moora_memory_words, rowid, owner, words)
      VALUES ('delete', old.number, hex(old.user), old.words);
  END`,
  `CREATE TRIGGER IF NOT EXISTS moora_memory_replaced AFTER UPDATE ON moora_memories BEGIN
    INSERT INTO moora_memory_words (moora_memory_words, rowid, owner, words)
      VALUES ('delete', old.number, hex(old.user), old.words);
    INSERT INTO moora_memory_words (rowid, owner, words) VALUES (new.number, hex(new.user), new.words);
  END`,
  `CREATE VIRTUAL TABLE IF NOT EXISTS moora_memory_words USING fts5 (
    owner, words, content = 'moora_memories', content_rowid = 'number')`,
];

const sql = {
  hasTables: "SELECT 1 FROM sqlite_schema WHERE name = 'moora_memory_words'",
  hasFullText: "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'",
  put: `INSERT INTO moora_memories (user, id, text, at, words, vector) SELECT ?1, ?2, ?3, ?4, ?5, ?6
    WHERE EXISTS (SELECT 1 FROM moora_memories WHERE user = ?1 AND id = ?2)
      OR (SELECT count(*) FROM moora_memories WHERE user = ?1) < ${maxMemories}
    ON CONFLICT (user, id) DO UPDATE SET
      text = excluded.text, at = excluded.at, words = excluded.words, vector = excluded.vector
    RETURNING number`,
  newest: "SELECT id, text, at FROM moora_memories WHERE user = ? ORDER BY at DESC, id LIMIT ?",
  withWords: `SELECT id, text, at FROM moora_memory_words
    JOIN moora_memories ON number = moora_memory_words.rowid
    WHERE moora_memory_words MATCH ? AND user = ? ORDER BY bm25(moora_memory_words, 0, 1), at DESC, id LIMIT ?`,
  withVectors: "SELECT id, text, at, vector FROM moora_memories WHERE user = ? AND vector IS NOT NULL",
  remove: "DELETE FROM moora_memories WHERE user = ? AND id = ? RETURNING number",
  removeAll: "DELETE FROM moora_memories WHERE user = ?",
} as const;

/**
 * Memories of users in a SQLite database: a file, which may be that of a log, or ":memory:". The words of memories are found by FTS5.
 * With `embed`, recalling compares the vectors of all memories of the user, too.
 *
 * Needs Node.js 22.16 or newer; rejects with `UnsupportedRuntime` where SQLite lacks FTS5. Opens the database as `sqliteLog` does, and
 * throws the same errors.
 */
export function sqliteMemoryStore(
  file: string,
  options: SqliteMemoryStoreOptions = {},
): DisposableMemoryStore {
  validateLocation("sqliteMemoryStore", 'the path of a file, or ":memory:"', file);
  validateOptions("sqliteMemoryStore", options, forms);
  const { busyTimeoutMs = 5_000, embed } = options;
  const { openDatabase = (path, how) => new (loadSqlite().DatabaseSync)(path, how) } = options;
  const connection = new Connection(file, { durability: "full", busyTimeoutMs, openDatabase });
  return memoriesIn(rowsOf(connection), embed);
}

function rowsOf(connection: Connection): MemoryRows {
  let isReady = false;
  const run = <T>(what: string, operation: () => T): MaybePromise<T> => {
    connection.renew();
    const ready = isReady || createTables(connection);
    return andThen(ready, () => {
      isReady = true;
      return connection.run(what, operation);
    });
  };
  return {
    put: (user, { id, text, at, words, vector }) =>
      run("remember", () => connection.one(sql.put, user, id, text, at, words, vector) !== undefined),
    newest: (user, limit) =>
      run("recall memories", () => connection.all(sql.newest, user, limit).map(rowToMemory)),
    withWords: (user, words, limit) =>
      run("recall memories", () =>
        connection.all(sql.withWords, matchOf(user, words), user, limit).map(rowToMemory),
      ),
    withVectors: (user) =>
      run("recall memories", () => connection.all(sql.withVectors, user).flatMap(rowToVector)),
    remove: (user, id) => run("forget a memory", () => connection.one(sql.remove, user, id) !== undefined),
    removeAll: (user) => run("forget a user", () => connection.do(sql.removeAll, user)),
    close: () => connection.close(),
  };
}

/** Words in quotes have no meaning in the syntax of FTS5. */
const matchOf = (user: string, words: readonly string[]): string =>
  `owner : "${Buffer.from(user).toString("hex")}" AND words : (${words.map((word) => `"${word}"${isPrefix(word) ? " *" : ""}`).join(" OR ")})`;

const createTables = (connection: Connection): MaybePromise<unknown> =>
  andThen(
    connection.run("open memories", () => {
      if (connection.one(sql.hasTables) !== undefined) return true;
      if (connection.one(sql.hasFullText) !== undefined) return false;
      const fix = "Use Node.js 22.16 or newer, or postgresMemoryStore.";
      throw new LogError("UnsupportedRuntime", `SQLite of Node.js ${process.version} has no FTS5. ${fix}`);
    }),
    (hasTables) =>
      hasTables ||
      connection.write("create the tables of memories", connection.epoch, () => {
        for (const table of tables) connection.do(table);
      }),
  );
