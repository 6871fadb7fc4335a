import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { defineAgent, defineTool, openSession } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { MockLlmCaller } from "@moora/llm/testing";
import { poolOn, PostgresServer } from "@moora/testbed/postgres/server";
import type { Orders } from "./child.ts";
import { ClusterProcess } from "./cluster-process.ts";

/** The agent of the processes, without its code: sessions are created and posted to with it. */
const agent = defineAgent({
  name: "payer",
  llm: new MockLlmCaller([]),
  tools: (
    [
      ["pay", "once"],
      ["work", "keyed"],
      ["crash", "keyed"],
      ["hang", "keyed"],
      ["slow", "safe"],
    ] as const
  ).map(([name, replay]) =>
    defineTool({
      name,
      description: "Of the processes.",
      input: { type: "object" },
      replay,
      execute: () => "",
    }),
  ),
});

const defaults = {
  leaseMs: 30_000,
  pollMs: 1_000,
  maxSessions: 100,
  modelMs: 0,
  hangs: false,
  isElsewhere: false,
};

/** A database, the effects of the processes on the world, and the processes that use them. */
export class World implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "moora-cluster-"));
  readonly #postgres: PostgresServer;
  readonly #processes: ClusterProcess[] = [];
  readonly log;
  readonly pool;

  private constructor(postgres: PostgresServer) {
    this.#postgres = postgres;
    this.log = postgresLog(postgres.url);
    this.pool = poolOn(postgres.url, 2);
    writeFileSync(this.#effects, "");
  }

  /** `isDurable`: whether the database syncs its files, as measurements need it. */
  static async start(isDurable: boolean): Promise<World> {
    return new World(await PostgresServer.start({ isDurable }));
  }

  /** The lines of the effects so far. */
  get effects(): readonly string[] {
    return readFileSync(this.#effects, "utf8").split("\n").slice(0, -1);
  }

  process(orders: Partial<Orders> = {}): ClusterProcess {
    const own = { url: this.#postgres.url, effects: this.#effects };
    const started = new ClusterProcess({ ...defaults, ...own, ...orders });
    this.#processes.push(started);
    return started;
  }

  /** Creates sessions with one message each, which no process answers yet. */
  async post(ids: readonly string[], text: string): Promise<void> {
    for (const id of ids) {
      await (await openSession(agent, { log: this.log, id })).close();
      await using poster = await openSession(agent, { log: this.log, id, access: "post" });
      await poster.send(text);
    }
  }

  /** Resolves when no session has work, except these. */
  async settled(except: readonly string[] = []): Promise<void> {
    await this.until(async () => {
      const { rows } = await this.pool.query(
        "SELECT id FROM moora_due JOIN moora_sessions USING (generation) WHERE due IS NOT NULL AND id <> ALL($1) LIMIT 1",
        [except],
      );
      return rows.length === 0;
    });
  }

  /** Resolves when a condition holds. */
  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await condition())) await delay(10);
  }

  async killAll(): Promise<void> {
    for (const process of this.#processes) await process[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killAll();
    await this.log.close();
    await this.pool.end();
    await this.#postgres[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #effects(): string {
    return join(this.#folder, "effects");
  }
}

/** Names of sessions. */
export const namesOf = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix} ${index + 1}`);
