import { defineAgent, defineTool, openSession } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { poolOn, PostgresServer } from "@moora/testbed/postgres/server";
import { appender, createSessions, rate } from "./appends.ts";
import { NotificationRounds } from "./notification-rounds.ts";

type Pool = ReturnType<typeof poolOn>;

/** How many statements are under way at the same time. */
const parallel = 16;

export interface LoadOptions {
  /** How long each rate is measured, in milliseconds. */
  readonly measureMs: number;
  /** The sessions that are in the database while queries about many of them are measured. */
  readonly storedSessions: number;
}

const tables = ["sessions", "records", "snapshots", "due"] as const;

/** A step as many agents have it: an answer of 600 characters, or a call with a result of 1,000. */
const agent = defineAgent({
  name: "typical",
  llm: new MockLlmCaller(({ messages }) =>
    messages.at(-1)?.role === "user"
      ? callsTools([{ name: "look", arguments: { query: "q".repeat(60) } }])
      : answers("a".repeat(600)),
  ),
  tools: [
    defineTool({
      name: "look",
      description: "Looks something up.",
      input: { type: "object" },
      execute: () => "r".repeat(1_000),
    }),
  ],
});

/** Lets the server accept the connections of all processes of a check. */
async function allowConnections(server: PostgresServer): Promise<void> {
  const pool = poolOn(server.url, 1);
  await pool.query("ALTER SYSTEM SET max_connections = 400");
  await pool.end();
  await server.restart();
}

/** Measures one kind of load after the other on a PostgreSQL of its own. */
export class PostgresLoad implements AsyncDisposable {
  readonly #server: PostgresServer;
  readonly #pool: Pool;
  readonly #options: LoadOptions;

  private constructor(server: PostgresServer, options: LoadOptions) {
    this.#server = server;
    this.#options = options;
    this.#pool = poolOn(server.url, parallel);
  }

  static async start(options: LoadOptions): Promise<PostgresLoad> {
    const server = await PostgresServer.start({ isDurable: true });
    await allowConnections(server);
    return new PostgresLoad(server, options);
  }

  /** Bytes on disk and in the write-ahead log, for sessions of five messages with one tool call each: ten steps. */
  async measureSizes() {
    const sessions = 40;
    await using log = postgresLog(this.#pool);
    await log.list();
    const walBefore = await this.#number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS n");
    for (let index = 0; index < sessions; index += 1) {
      await using session = await openSession(agent, { log, id: `size ${index}` });
      for (let message = 0; message < 5; message += 1) await session.ask("m".repeat(100));
    }
    const wal = (await this.#number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS n")) - walBefore;
    const records = await this.#number("SELECT count(*) AS n FROM moora_records");
    const bytes: Record<string, number> = {};
    for (const table of tables)
      bytes[table] = await this.#number(`SELECT pg_total_relation_size('moora_${table}') AS n`);
    const steps = sessions * 10;
    return {
      recordsPerStep: records / steps,
      bytesPerRecord: Math.round((bytes["records"] ?? 0) / records),
      bytesPerSession: Math.round(
        ((bytes["sessions"] ?? 0) + (bytes["snapshots"] ?? 0) + (bytes["due"] ?? 0)) / sessions,
      ),
      walBytesPerStep: Math.round(wal / steps),
    };
  }

  /** Appends of two records to different sessions, without notifications. */
  async measureAppends() {
    await using log = postgresLog(this.#pool, { notify: false });
    const writers = (await createSessions(log, "append", parallel)).map((session) => appender(session));
    return { appendsPerSecondWithoutNotify: await rate(this.#options.measureMs, writers) };
  }

  /** Renewals of leases: the lease is read, and written if it is still the same. */
  async measureLeases() {
    await using log = postgresLog(this.#pool);
    const sessions = await createSessions(log, "lease", parallel * 20);
    const renewers = Array.from({ length: parallel }, (_, lane) => {
      const own = sessions.filter((_session, index) => index % parallel === lane);
      let turn = 0;
      return async (): Promise<void> => {
        await own[turn++ % own.length]?.lease({ owner: "bench", now: Date.now(), ttlMs: 30_000 });
      };
    });
    return { renewalsPerSecond: await rate(this.#options.measureMs, renewers) };
  }

  /** Appends that notify no process and these numbers of processes. Each rate is the best of so many rounds. */
  async measureNotifications(processes: readonly number[], rounds: number): Promise<NotificationRounds> {
    const { measureMs } = this.#options;
    const load = { processes, writers: parallel, measureMs };
    const measured = new NotificationRounds(this.#pool, this.#server.url, load);
    for (let round = 0; round < rounds; round += 1) await measured.run();
    return measured;
  }

  /** What each process asks once a second, with a million sessions in the database. */
  async measureManySessions() {
    await this.#pool.query(
      `INSERT INTO moora_sessions (generation, id, header)
         SELECT gen_random_uuid(), 'many ' || n, '{}' FROM generate_series(1, $1::int) n`,
      [this.#options.storedSessions],
    );
    await this.#pool.query(
      `INSERT INTO moora_due SELECT generation, 1, CASE WHEN random() < 0.1 THEN 1e15 END FROM moora_sessions
         WHERE id LIKE 'many %'`,
    );
    await this.#pool.query(
      `INSERT INTO moora_records SELECT generation, 1, 'c', 'd', 'b' FROM moora_sessions WHERE id LIKE 'many %'`,
    );
    await this.#pool.query("ANALYZE");
    const { rows } = await this.#pool.query(
      "SELECT array_agg(generation) AS ids FROM (SELECT generation FROM moora_sessions WHERE id LIKE 'many %' ORDER BY random() LIMIT 1000) s",
    );
    const heads = `SELECT generation, (SELECT max(seq) FROM moora_records r WHERE r.generation = s.generation) AS head
      FROM moora_sessions s WHERE generation = ANY ($1::uuid[])`;
    const due = `SELECT id, header, due FROM moora_due JOIN moora_sessions USING (generation)
      WHERE due <= $1 AND (lease_until IS NULL OR lease_until <= $1) AND (due, id) > (-1, '' COLLATE "C") ORDER BY due, id LIMIT 100`;
    return {
      headsOf1000SessionsMs: await this.#medianMs(heads, [rows[0].ids]),
      dueQueryMs: await this.#medianMs(due, [Date.now()]),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
    await this.#server[Symbol.asyncDispose]();
  }

  async #number(sql: string): Promise<number> {
    return Number((await this.#pool.query(sql)).rows[0].n);
  }

  async #medianMs(sql: string, values: unknown[]): Promise<number> {
    const samples: number[] = [];
    for (let sample = 0; sample < 21; sample += 1) {
      const start = performance.now();
      await this.#pool.query(sql, values);
      samples.push(performance.now() - start);
    }
    return Math.round((samples.toSorted((one, other) => one - other)[10] ?? 0) * 10) / 10;
  }
}
