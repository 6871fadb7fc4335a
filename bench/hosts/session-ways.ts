import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSession, startSession, type EventLog } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { sqliteLog } from "@moora/event-log/sqlite";
import { stepsAgent } from "./agent.ts";
import type { HostWays } from "./way.ts";

/** Sessions in memory, in a file of SQLite and in PostgreSQL. */
export async function sessionWays(postgresUrl: string): Promise<HostWays> {
  const agent = stepsAgent();
  const folder = mkdtempSync(join(tmpdir(), "moora-bench-"));
  const [sqlite, postgres] = [sqliteLog(join(folder, "sessions.db")), postgresLog(postgresUrl)];
  const askIn = (log: EventLog) => async (sample: number) => {
    await using session = await openSession(agent, { log, id: `s${sample}` });
    await session.ask("Work.");
  };
  return {
    ways: [
      {
        name: "in memory",
        run: async () => {
          await using session = startSession(agent);
          await session.ask("Work.");
        },
      },
      { name: "SQLite", run: askIn(sqlite) },
      { name: "PostgreSQL", run: askIn(postgres) },
    ],
    async [Symbol.asyncDispose]() {
      await sqlite.close();
      await postgres.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
