import { join } from "node:path";
import type { EventLog } from "@moora/event-log";
import { jsonlLog } from "@moora/event-log/jsonl";
import { sqliteLog } from "@moora/event-log/sqlite";
import { hasty, onNotice } from "@moora/testbed/durable/places";

/** A store that outlives those who have it open. */
export const storeNames = ["jsonl", "sqlite", "postgres"] as const;

export type StoreName = (typeof storeNames)[number];

/** Where sessions are: a folder for files, a URL for a server. */
export interface Place {
  readonly store: StoreName;
  readonly folder: string;
  readonly url: string;
}

/** Opens a store as one more process does. The driver of the server is only loaded by those who need it. */
export async function openStore({ store, folder, url }: Place): Promise<EventLog> {
  switch (store) {
    case "jsonl":
      return jsonlLog(join(folder, "sessions"), { onNotice, ...hasty });
    case "sqlite":
      return sqliteLog(join(folder, "log.db"), { onNotice, durability: "relaxed" });
    case "postgres": {
      const { postgresLog } = await import("@moora/event-log-postgres");
      return postgresLog(url, { onNotice });
    }
  }
}

/** Where the world outside keeps count of what was done to it. */
export const counterFile = (folder: string): string => join(folder, "world.db");
