import { LogError, type DisposableMemoryStore, type Embed } from "@moora/event-log";
import {
  isPrefix,
  maxMemories,
  memoriesIn,
  optionForms,
  rowToMemory,
  rowToVector,
  validateOptions,
  type MemoryRows,
  type OptionForms,
} from "@moora/event-log/store";
import { Database, type Query } from "./database.ts";
import { LazyPool } from "./lazy-pool.ts";
import type { PostgresOptions } from "./postgres-log.ts";
import type { PostgresPool } from "./postgres-pool.ts";
import { tablesOf } from "./tables.ts";

/** Options of {@link postgresMemoryStore}. */
export interface PostgresMemoryStoreOptions extends Pick<
  PostgresOptions,
  "schema" | "prefix" | "busyTimeoutMs"
> {
  /** Finds memories by their meaning, too. Default: only by their words. */
  readonly embed?: Embed;
}

const forms: OptionForms<PostgresMemoryStoreOptions> = {
  schema: optionForms.string,
  prefix: optionForms.string,
  busyTimeoutMs: optionForms.milliseconds,
  embed: optionForms.function,
};

const statementTimeoutMs = 60_000;

/**
 * Memories of users in PostgreSQL, over a pool of `pg` or a connection string, in a table beside those of a log with the same schema
 * and prefix. The words of memories are found by `tsvector`. With `embed`, recalling compares the vectors of all memories of the user,
 * too. It connects and creates its tables on first use. `close` ends a pool that was created from a connection string. Throws
 * `InvalidOption` if `source` is neither of the two, and for an unknown or invalid option.
 */
export function postgresMemoryStore(
  source: PostgresPool | string,
  options: PostgresMemoryStoreOptions = {},
): DisposableMemoryStore {
  const isPool = typeof source === "object" && typeof Reflect.get(source ?? {}, "connect") === "function";
  // The message does not contain the value: connection strings have passwords.
  if (!isPool && (typeof source !== "string" || source === ""))
    throw new LogError("InvalidOption", "postgresMemoryStore needs a connection string or a pool of pg.");
  validateOptions("postgresMemoryStore", options, forms);
  const { schema, prefix = "moora_", busyTimeoutMs = 5_000, embed } = options;
  const pool =
    typeof source === "string"
      ? new LazyPool({
          connectionString: source,
          connectionTimeoutMillis: busyTimeoutMs,
          lock_timeout: busyTimeoutMs,
          statement_timeout: statementTimeoutMs,
          keepAlive: true,
          allowExitOnIdle: true,
          application_name: "moora",
        })
      : source;
  const tables = tablesOf(schema, prefix);
  const limits = { busyTimeoutMs, statementTimeoutMs, notify: false, isOwnPool: !isPool };
  const table = schema === undefined ? `"${prefix}memories"` : `"${schema}"."${prefix}memories"`;
  return memoriesIn(rowsIn(new Database(pool, { tables, ...limits }), table), embed);
}

/**
 * A search reads the words of the memories of one user, which are at most 1,000 rows beside each other in the primary key. An index of
 * the words of all users would find those of others first.
 */
const definition = (table: string): string => `
  SELECT pg_advisory_xact_lock(hashtextextended('${table}', 0));
  CREATE TABLE IF NOT EXISTS ${table} (
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    text text NOT NULL,
    at double precision NOT NULL,
    words tsvector NOT NULL,
    vector bytea,
    PRIMARY KEY (user_id, id)
  )`;

/** `put` commits durably even if the server's default is weaker. */
const statementsOf = (table: string) => ({
  put: `INSERT INTO ${table} (user_id, id, text, at, words, vector)
      SELECT $1::text, $2::text, $3::text, $4::double precision, to_tsvector('simple', $5), $6::bytea
      WHERE EXISTS (SELECT FROM ${table} WHERE user_id = $1 AND id = $2)
        OR (SELECT count(*) FROM ${table} WHERE user_id = $1) < ${maxMemories}
      ON CONFLICT (user_id, id) DO UPDATE SET
        text = excluded.text, at = excluded.at, words = excluded.words, vector = excluded.vector
      RETURNING CASE WHEN current_setting('synchronous_commit') = 'off'
        THEN set_config('synchronous_commit', 'on', true) END`,
  newest: `SELECT id, text, at FROM ${table} WHERE user_id = $1 ORDER BY at DESC, id LIMIT $2`,
  withWords: `SELECT id, text, at FROM ${table}, to_tsquery('simple', $2) AS query
      WHERE user_id = $1 AND words @@ query ORDER BY ts_rank(words, query) DESC, at DESC, id LIMIT $3`,
  withVectors: `SELECT id, text, at, vector FROM ${table} WHERE user_id = $1 AND vector IS NOT NULL`,
  remove: `DELETE FROM ${table} WHERE user_id = $1 AND id = $2 RETURNING id`,
  removeAll: `DELETE FROM ${table} WHERE user_id = $1`,
});

function rowsIn(database: Database, table: string): MemoryRows {
  const sql = statementsOf(table);
  let isReady = false;
  const rows = async (what: string, statement: string, ...values: readonly unknown[]) =>
    await database.run(what, async (query) => {
      if (!isReady) await createTable(query, table);
      isReady = true;
      return await query(statement, ...values);
    });
  const memories = (...given: readonly [statement: string, ...values: readonly unknown[]]) =>
    rows("recall memories", ...given).then((found) => found.map(rowToMemory));
  return {
    put: async (user, { id, text, at, words, vector }) => {
      const bytes = vector === null ? null : Buffer.from(vector);
      return (await rows("remember", sql.put, user, id, text, at, words, bytes)).length > 0;
    },
    newest: (user, limit) => memories(sql.newest, user, limit),
    withWords: (user, words, limit) => memories(sql.withWords, user, tsqueryOf(words), limit),
    withVectors: async (user) => (await rows("recall memories", sql.withVectors, user)).flatMap(rowToVector),
    remove: async (user, id) => (await rows("forget a memory", sql.remove, user, id)).length > 0,
    removeAll: (user) => rows("forget a user", sql.removeAll, user),
    close: () => database.close(),
  };
}

/** Words have letters and digits only, so none ends the quotes. */
const tsqueryOf = (words: readonly string[]): string =>
  words.map((word) => `'${word}'${isPrefix(word) ? ":*" : ""}`).join(" | ");

/** A role that may not create tables uses one that exists. */
async function createTable(query: Query, table: string): Promise<void> {
  const [found] = await query("SELECT to_regclass($1) IS NOT NULL AS has_table", table);
  if (found?.["has_table"] !== true) await query(definition(table));
}
