import { DatabaseSync } from "node:sqlite";

/** One run of a tool. */
export interface Run {
  readonly key: string;
  readonly tool: string;
  readonly args: string;
  readonly attempt: number;
}

/**
 * The external world: a database of the effects of tools, which survives the processes that caused them. `keyed` tools
 * leave one row for each key, like a service that supports idempotency keys.
 */
export class Counter implements Disposable {
  readonly #database: DatabaseSync;

  constructor(file = ":memory:") {
    this.#database = new DatabaseSync(file, { timeout: 10_000 });
    this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
      CREATE TABLE IF NOT EXISTS runs (key TEXT, tool TEXT, args TEXT, attempt INTEGER);
      CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY, tool TEXT, args TEXT);
      CREATE TABLE IF NOT EXISTS asks (key TEXT, request TEXT, problem TEXT)`);
  }

  /** A model was asked. `request` is a digest of what, `problem` says why no provider would take it. */
  asked(key: string, request: string, problem: string | undefined): void {
    this.#database.prepare("INSERT INTO asks VALUES (?, ?, ?)").run(key, request, problem ?? null);
  }

  /** The number of model calls. */
  get asks(): number {
    return Number(this.#database.prepare("SELECT count(*) AS n FROM asks").get()?.["n"]);
  }

  /** The problems of model requests: a provider would refuse one, or two requests have the same key. */
  get badAsks(): readonly string[] {
    const problems = this.#database.prepare("SELECT problem FROM asks WHERE problem IS NOT NULL").all();
    const keys = this.#database
      .prepare("SELECT key FROM asks GROUP BY key HAVING count(DISTINCT request) > 1")
      .all();
    return [
      ...problems.map(({ problem }) => String(problem)),
      ...keys.map(({ key }) => `The key ${String(key)} belonged to two requests.`),
    ];
  }

  ran({ key, tool, args, attempt }: Run): void {
    this.#database.prepare("INSERT INTO runs VALUES (?, ?, ?, ?)").run(key, tool, args, attempt);
    this.#database.prepare("INSERT OR IGNORE INTO effects VALUES (?, ?, ?)").run(key, tool, args);
  }

  /** Every run, in order. */
  get runs(): readonly Run[] {
    const rows = this.#database.prepare("SELECT * FROM runs ORDER BY rowid").all();
    return rows.map(({ key, tool, args, attempt }) => ({
      key: String(key),
      tool: String(tool),
      args: String(args),
      attempt: Number(attempt),
    }));
  }

  /** The effects of tools, one row for each key. */
  get effects(): number {
    return Number(this.#database.prepare("SELECT count(*) AS n FROM effects").get()?.["n"]);
  }

  /** Whether a call with this key ran. */
  knows(key: string): boolean {
    return this.#database.prepare("SELECT 1 FROM runs WHERE key = ?").get(key) !== undefined;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
