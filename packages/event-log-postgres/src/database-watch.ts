import { HeadWatch } from "@moora/event-log/store";
import type { Database } from "./database.ts";
import type { Notifications } from "./notifications.ts";

/**
 * Watches the sessions of a database. Notifications of the server report changes, and the heads are also compared once a second,
 * so a watch works behind a pooler that does not forward notifications, and after a broken connection.
 */
export function watchDatabase(database: Database, notifications: Notifications): HeadWatch {
  const { channel } = database;
  const watch = new HeadWatch({
    async headsOf(generations) {
      const rows = await database.rows("read the heads", database.statements.heads, generations);
      return new Map(rows.map((row) => [String(row["generation"]), String(row["head"])]));
    },
    source: (onChange) =>
      channel === null
        ? () => undefined
        : notifications.listen({
            channel: () => channel,
            onPayload: (payload) => {
              const generation = database.foreignGeneration(payload);
              if (generation !== undefined) watch.notify(generation);
            },
            onConnect: () => onChange(),
          }),
  });
  return watch;
}
