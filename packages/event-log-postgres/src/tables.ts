import { LogError } from "@moora/event-log";
import type { PostgresClient } from "./postgres-pool.ts";

const format = 1;

/** The names of a log's tables, quoted for SQL, and of the channel that notifies watchers. */
export interface Tables {
  readonly schema: string | undefined;
  readonly format: string;
  readonly sessions: string;
  readonly records: string;
  readonly snapshots: string;
  readonly due: string;
  readonly blobs: string;
  /** The index of the sessions by user, with its schema, and the names of both indexes without it. */
  readonly byUser: string;
  readonly indexes: { readonly byUser: string; readonly byCaller: string };
  readonly channel: string;
  /** The beginning of all names. */
  readonly prefix: string;
}

const maxNameLength = 40;

/** Returns the names of the tables. Throws `InvalidOption` for a schema or prefix that is too long or has other characters. */
export function tablesOf(schema: string | undefined, prefix: string): Tables {
  for (const name of [schema ?? "", prefix]) {
    if (name.length > maxNameLength || !/^[\w$ -]*$/.test(name)) {
      throw new LogError(
        "InvalidOption",
        `A schema or prefix must have at most ${maxNameLength} letters, digits, _, $, - and spaces, got ${JSON.stringify(name)}.`,
      );
    }
  }
  const table = (name: string): string =>
    schema === undefined ? `"${prefix}${name}"` : `"${schema}"."${prefix}${name}"`;
  return {
    schema,
    format: table("format"),
    sessions: table("sessions"),
    records: table("records"),
    snapshots: table("snapshots"),
    due: table("due"),
    blobs: table("blobs"),
    byUser: table("sessions_by_user"),
    indexes: { byUser: `"${prefix}sessions_by_user"`, byCaller: `"${prefix}sessions_by_caller"` },
    channel: `${prefix}appended`,
    prefix,
  };
}

/**
 * The index of the work that waits is a narrow table of its own, because each append writes to it; tables of earlier releases
 * get it when they are used. It does not refer to the sessions: a removal locks its row first, in the order of appends.
 *
 * The columns by which sessions are listed are added to tables of earlier releases when they are used. A session without a key of a
 * user was created by an earlier release; the next listing computes its keys.
 *
 * The primary key of the records is the optimistic lock: of two appends at the same head, the second violates it. */
const definitions = ({
  schema,
  format: formats,
  sessions,
  records,
  snapshots,
  due,
  blobs,
  byUser,
  indexes,
}: Tables): string => `
  ${schema === undefined ? "" : `CREATE SCHEMA IF NOT EXISTS "${schema}";`}
  CREATE TABLE IF NOT EXISTS ${formats} (version integer NOT NULL);
  INSERT INTO ${formats} SELECT ${format} WHERE NOT EXISTS (SELECT FROM ${formats});
  CREATE TABLE IF NOT EXISTS ${sessions} (
    generation uuid PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    header text NOT NULL,
    lease_owner text,
    lease_until double precision
  );
  CREATE TABLE IF NOT EXISTS ${records} (
    generation uuid NOT NULL REFERENCES ${sessions} ON DELETE CASCADE,
    seq bigint NOT NULL,
    changes_digest text NOT NULL,
    digest text NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (generation, seq)
  );
  CREATE TABLE IF NOT EXISTS ${snapshots} (
    generation uuid PRIMARY KEY REFERENCES ${sessions} ON DELETE CASCADE,
    seq bigint NOT NULL,
    digest text NOT NULL,
    version text NOT NULL,
    body text NOT NULL,
    body_digest text NOT NULL,
    seal text NOT NULL,
    prefix_seq bigint NOT NULL,
    prefix_sum text NOT NULL
  );
  CREATE TABLE IF NOT EXISTS ${blobs} (digest text PRIMARY KEY, bytes bytea NOT NULL);
  DO $create$ BEGIN
    IF to_regclass($name$${due}$name$) IS NULL THEN
      CREATE TABLE ${due} (
        generation uuid PRIMARY KEY,
        seq bigint NOT NULL,
        due double precision
      ) WITH (fillfactor = 70);
      CREATE INDEX ON ${due} (due) WHERE due IS NOT NULL;
      INSERT INTO ${due} SELECT generation, max(seq), 0 FROM ${records} GROUP BY generation;
    END IF;
    IF to_regclass($name$${byUser}$name$) IS NULL THEN
      ALTER TABLE ${sessions}
        ADD COLUMN user_key text COLLATE "C",
        ADD COLUMN caller_key text COLLATE "C";
      CREATE INDEX ${indexes.byUser} ON ${sessions} (user_key, id);
      CREATE INDEX ${indexes.byCaller} ON ${sessions} (caller_key) WHERE caller_key IS NOT NULL;
    END IF;
  END $create$;`;

/**
 * Creates the tables if they do not exist, one process at a time. Returns what identifies them among the tables of the database.
 * Throws `UnsupportedVersion` for tables of another format.
 */
export async function prepareTables(client: PostgresClient, tables: Tables): Promise<string> {
  await checkEncoding(client);
  if (!(await hasTables(client, tables))) await createTables(client, tables);
  const { rows } = await client.query("SELECT $1::regclass::oid::text AS id", [tables.sessions]);
  return String(rows[0]?.["id"]);
}

async function checkEncoding(client: PostgresClient): Promise<void> {
  const { rows } = await client.query("SELECT current_setting('server_encoding') AS encoding");
  if (rows[0]?.["encoding"] === "UTF8") return;
  throw new LogError("UnsupportedVersion", "The encoding of the database must be UTF8.");
}

async function hasTables(client: PostgresClient, tables: Tables): Promise<boolean> {
  const found = await client.query(
    `SELECT to_regclass($1) IS NOT NULL AS has_format,
       to_regclass($2) IS NOT NULL AND to_regclass($3) IS NOT NULL
         AND to_regclass($4) IS NOT NULL AS has_later`,
    [tables.format, tables.due, tables.blobs, tables.byUser],
  );
  if (found.rows[0]?.["has_format"] !== true) return false;
  const { rows } = await client.query(`SELECT version FROM ${tables.format}`);
  const version = rows[0]?.["version"];
  if (version === format) return found.rows[0]?.["has_later"] === true;
  throw new LogError(
    "UnsupportedVersion",
    `Unsupported log format ${String(version)}; this release reads ${format}. Update Moora.`,
  );
}

/** Another process may create them while this one waits for the lock, so the statements tolerate existing tables. */
async function createTables(client: PostgresClient, tables: Tables): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [tables.format]);
    await client.query(definitions(tables));
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}
