import { join } from "node:path";
import type { EventLog } from "@moora/event-log";
import { jsonlLog } from "@moora/event-log/jsonl";
import { sqliteLog } from "@moora/event-log/sqlite";
import { postgresLog } from "@moora/event-log-postgres";
import type { RowContext } from "../harness/row.ts";
import { bareFiles, barePostgres, bareSqlite, type BareStore } from "./bare-store.ts";

/** A log of ours, and a store with the same settings for the loop written by hand. */
export interface StorePair {
  readonly log: EventLog;
  readonly bare: BareStore;
}

export type StoreName = "sqlite" | "sqlite-relaxed" | "jsonl" | "jsonl-relaxed" | "postgres";

/** How a row names a store. */
export const storeTitles: Readonly<Record<StoreName, string>> = {
  sqlite: "SQLite full",
  "sqlite-relaxed": "SQLite relaxed",
  jsonl: "JSONL synced",
  "jsonl-relaxed": "JSONL relaxed",
  postgres: "PostgreSQL",
};

/** Opens the stores of a row, in the folder of the run. They are closed after the row. */
export async function openStores(name: StoreName, context: RowContext): Promise<StorePair> {
  const log = openLog(name, context);
  context.resources.defer(() => log.close());
  const bare = await openBareStore(name, context);
  context.resources.defer(() => bare.close());
  return { log, bare };
}

type Place = Pick<RowContext, "directory" | "postgres">;

/** Opens a log of ours in the folder of the run. */
export function openLog(name: StoreName, { directory, postgres }: Place): EventLog {
  switch (name) {
    case "sqlite":
      return sqliteLog(join(directory, "full.db"));
    case "sqlite-relaxed":
      return sqliteLog(join(directory, "relaxed.db"), { durability: "relaxed" });
    case "jsonl":
      return jsonlLog(join(directory, "synced"));
    case "jsonl-relaxed":
      return jsonlLog(join(directory, "relaxed"), { durability: "relaxed" });
    case "postgres":
      return postgresLog(urlOf(postgres));
  }
}

function openBareStore(name: StoreName, { directory, postgres }: Place): BareStore | Promise<BareStore> {
  switch (name) {
    case "sqlite":
      return bareSqlite(join(directory, "bare-full.db"), "FULL");
    case "sqlite-relaxed":
      return bareSqlite(join(directory, "bare-relaxed.db"), "NORMAL");
    case "jsonl":
      return bareFiles(join(directory, "bare-synced"), true);
    case "jsonl-relaxed":
      return bareFiles(join(directory, "bare-relaxed"), false);
    case "postgres":
      return barePostgres(urlOf(postgres));
  }
}

function urlOf(postgres: RowContext["postgres"]): string {
  if (typeof postgres === "string") throw new Error(postgres);
  return postgres.url;
}
