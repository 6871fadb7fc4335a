import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Where a loop written by hand appends the texts of one run. */
export interface BareSession {
  append(text: string): void | Promise<void>;
  close(): void;
}

/** A store without a log: what a program that only appends would use. */
export interface BareStore {
  start(): BareSession;
  close(): void | Promise<void>;
}

/** One row for each append, in a database with the settings of our log. */
export function bareSqlite(file: string, synchronous: "FULL" | "NORMAL"): BareStore {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
    CREATE TABLE IF NOT EXISTS appends (session INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (session, seq)) STRICT`);
  const insert = database.prepare("INSERT INTO appends VALUES (?, ?, ?)");
  const found = database.prepare("SELECT max(session) AS last FROM appends").get();
  let sessions = Number(found?.["last"] ?? 0);
  return {
    start() {
      const session = (sessions += 1);
      let seq = 0;
      return {
        append: (text) => void insert.run(session, (seq += 1), text),
        close: () => undefined,
      };
    },
    close: () => database.close(),
  };
}

/** One file for each run, which stays open. */
export function bareFiles(directory: string, isSynced: boolean): BareStore {
  mkdirSync(directory, { recursive: true });
  let sessions = 0;
  return {
    start() {
      const fd = openSync(join(directory, `${process.pid}-${(sessions += 1)}.jsonl`), "a");
      return {
        append(text) {
          writeSync(fd, text);
          if (isSynced) fsyncSync(fd);
        },
        close: () => closeSync(fd),
      };
    },
    close: () => undefined,
  };
}

interface PostgresClient {
  connect(): Promise<unknown>;
  query(
    statement: string | { readonly name: string; readonly text: string; readonly values: unknown[] },
  ): Promise<unknown>;
  end(): Promise<void>;
}

/**
 * The part of the package `pg` that is used. It is installed where the benchmarks run. The root of the workspace must not
 * have it: programs below it would find it, and the consumers without `pg` are checked there.
 */
interface PostgresPackage {
  readonly default: {
    readonly Client: new (options: { readonly connectionString: string }) => PostgresClient;
  };
}

const postgresPackage: string = "pg";

/** One row for each append, in a statement of its own, through one connection. */
export async function barePostgres(connectionString: string): Promise<BareStore> {
  const { default: pg }: PostgresPackage = await import(postgresPackage);
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(
    "CREATE TABLE IF NOT EXISTS appends (session TEXT, seq INTEGER, body TEXT, PRIMARY KEY (session, seq))",
  );
  let sessions = 0;
  return {
    start() {
      const session = `${process.pid}-${(sessions += 1)}`;
      let seq = 0;
      return {
        async append(text) {
          const values = [session, (seq += 1), text];
          await client.query({ name: "append", text: "INSERT INTO appends VALUES ($1, $2, $3)", values });
        },
        close: () => undefined,
      };
    },
    close: () => client.end(),
  };
}
