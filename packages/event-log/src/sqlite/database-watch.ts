import { basename, dirname } from "node:path";
import { HeadWatch } from "../head-watch.ts";
import { watchFolder } from "../watch-folder.ts";
import { andThen } from "../maybe-promise.ts";
import type { MaybePromise } from "../port.ts";
import type { Connection } from "./connection.ts";

const sql = {
  heads: "SELECT generation, head FROM moora_sessions WHERE generation IN (SELECT value FROM json_each(?))",
  version: "PRAGMA data_version",
} as const;

/** Watches the sessions of a database with one file watcher and one timer. */
export function watchDatabase(connection: Connection): HeadWatch {
  const headsOf = (generations: readonly string[]): MaybePromise<ReadonlyMap<string, string>> =>
    andThen(
      connection.run("read the heads", () =>
        connection.all(sql.heads, JSON.stringify(generations.map(Number))),
      ),
      (rows) => new Map(rows.map((row) => [String(row["generation"]), String(row["head"])])),
    );
  return new HeadWatch({
    headsOf,
    ...(connection.isInMemory ? {} : { source: (onChange) => watchCommits(connection, () => onChange()) }),
  });
}

/** Calls the listener after a commit by another connection, which changes a file in the folder and the data version. */
function watchCommits(connection: Connection, onCommit: () => void): () => void {
  const { file } = connection;
  const name = basename(file);
  let version = dataVersion(connection);
  return watchFolder(dirname(file), (changedFile) => {
    if (changedFile !== null && !changedFile.startsWith(name)) return;
    const now = dataVersion(connection);
    if (now === version) return;
    version = now;
    onCommit();
  });
}

/** Undefined if the database fails. The next read then reports the error. */
function dataVersion(connection: Connection): unknown {
  try {
    return connection.one(sql.version)?.["data_version"];
  } catch {
    return undefined;
  }
}
