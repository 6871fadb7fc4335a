import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { memoryLog, type EventLog, type LogNotice } from "@moora/event-log";
import { UsageError } from "../usage-error.ts";

/** Where sessions are kept. `shown` bears no secret. */
export type LogPlace =
  | { readonly type: "sqlite"; readonly path: string; readonly shown: string }
  | { readonly type: "jsonl"; readonly path: string; readonly shown: string }
  | { readonly type: "postgres"; readonly url: string; readonly shown: string };

/** The folder that is made for sessions of which nobody said where to keep them. */
const ownFolder = ".moora";

/**
 * What `--log` means: the address of a PostgreSQL server, a SQLite file by its ending, a folder of JSONL files, or one of
 * the files in such a folder. Default: a SQLite file of this folder's own.
 */
export function textToPlace(text: string | undefined, cwd: string): LogPlace {
  const shown = text ?? join(ownFolder, "sessions.db");
  if (/^[a-z]+:\/\//i.test(shown)) return urlToPlace(shown);
  const path = resolve(cwd, shown);
  if (/\.(db|sqlite3?)$/i.test(path)) return { type: "sqlite", path, shown };
  const isFile = /\.jsonl$/i.test(path) && !isFolder(path);
  return { type: "jsonl", path: isFile ? dirname(path) : path, shown };
}

function urlToPlace(text: string): LogPlace {
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    throw new UsageError(
      "--log is no address of a log.",
      "It is a folder, a file that ends in .db, or postgres://...",
    );
  return { type: "postgres", url: text, shown: `${url.protocol}//${url.host}${url.pathname}` };
}

/**
 * Opens a log. `makes` says whether it is made where there is none; without it, no log is an empty one, and looking for a
 * session leaves no file behind. Loads only the one store that is meant.
 */
export async function openPlace(
  place: LogPlace,
  { makes, onNotice }: { readonly makes: boolean; readonly onNotice: (notice: LogNotice) => void },
): Promise<EventLog> {
  switch (place.type) {
    case "postgres": {
      const { postgresLog } = await import("@moora/event-log-postgres");
      return postgresLog(place.url, { onNotice });
    }
    case "jsonl": {
      if (!makes && !existsSync(place.path)) return memoryLog();
      checkFolder(place);
      const { jsonlLog } = await import("@moora/event-log/jsonl");
      return jsonlLog(place.path, { onNotice });
    }
    case "sqlite": {
      if (!existsSync(place.path)) {
        if (!makes) return memoryLog();
        makeFolder(dirname(place.path), place.shown);
      }
      const { sqliteLog } = await import("@moora/event-log/sqlite");
      return sqliteLog(place.path, { onNotice });
    }
  }
}

/** Sessions hold whatever was said: a folder of ours is for its owner only, and stays out of repositories. */
function makeFolder(folder: string, shown: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (folder.endsWith(ownFolder)) writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    if (existsSync(folder)) return;
    throw new UsageError(
      `There can be no log at ${shown}: ${codeOf(error)}.`,
      "Name another one with --log.",
    );
  }
}

function checkFolder({ path, shown }: { readonly path: string; readonly shown: string }): void {
  if (existsSync(path) && !isFolder(path))
    throw new UsageError(
      `${shown} is no folder.`,
      "--log is a folder, a file that ends in .db, or postgres://...",
    );
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "it cannot be made";

/** A notice of a log, for people. */
export function noticeToWords({ type, id, afterSeq, droppedBytes }: LogNotice): string {
  switch (type) {
    case "torn-tail":
      return `A crash had cut the last write to ${id} short: ${droppedBytes} bytes after record ${afterSeq} were removed.`;
    case "damaged-snapshot":
      return `A stored summary of ${id} was damaged, and is not used.`;
    case "unreadable-session":
      return `The session in ${id} cannot be read and is left out.`;
  }
}
