import { basename, dirname } from "node:path";
import { HeadWatch } from "../head-watch.ts";
import { watchFolder } from "../watch-folder.ts";
import { andThen } from "../maybe-promise.ts";
import type { MaybePromise } from "../port.ts";
import type { Connection } from "./connection.ts";

const sql = {
  heads: "SELECT life, head FROM moora_sessions WHERE life IN (SELECT value FROM json_each(?))",
  version: "PRAGMA data_version",
} as const;

/** Watches the sessions of a database: one watcher of its folder, and one timer, for all of them. */
export function watchDatabase(connection: Connection): HeadWatch {
  const headsOf = (lives: readonly string[]): MaybePromise<ReadonlyMap<string, string>> =>
    andThen(
      connection.run("read the heads", () => connection.all(sql.heads, JSON.stringify(lives.map(Number)))),
      (rows) => new Map(rows.map((row) => [String(row["life"]), String(row["head"])])),
    );
  return new HeadWatch({
    headsOf,
    ...(connection.isInMemory ? {} : { source: (changed) => watchCommits(connection, () => changed()) }),
  });
}

/** Calls back after a commit by another connection. SQLite changes some file in the folder, and its data version. */
function watchCommits(connection: Connection, changed: () => void): () => void {
  const { file } = connection;
  const name = basename(file);
  let version = dataVersion(connection);
  return watchFolder(dirname(file), (changedFile) => {
    if (changedFile !== null && !changedFile.startsWith(name)) return;
    const now = dataVersion(connection);
    if (now === version) return;
    version = now;
    changed();
  });
}

/** Undefined if the database does not answer: whoever reads finds out why. */
function dataVersion(connection: Connection): unknown {
  try {
    return connection.one(sql.version)?.["data_version"];
  } catch {
    return undefined;
  }
}
