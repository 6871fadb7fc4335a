import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { memoryLog, type EventLog, type LogNotice } from "@moora/event-log";
import { usageError } from "../cli-failure.ts";
import type { Screen } from "../terminal/screen.ts";
import { codeOf } from "./use-file.ts";

interface LogTargetBase {
  /** The target as it may be shown: without a password. */
  readonly shown: string;
  /** The file of the key that signs the open questions of `/mcp`, unless `--secret-file` names another one. */
  readonly secretFile: string;
}

/** Where sessions are kept. */
export type LogTarget = LogTargetBase &
  (
    | { readonly type: "sqlite"; readonly path: string }
    | { readonly type: "jsonl"; readonly path: string }
    | { readonly type: "postgres"; readonly url: string }
  );

/** The folder for sessions without `--log`. */
const defaultFolder = ".moora";

const validTargets = "Use a folder, a file that ends in .db, or postgres://...";

/**
 * Parses `--log`: the address of a PostgreSQL server, a SQLite file by its extension, a folder of JSONL files, or a file
 * in such a folder. Default: a SQLite file in the folder `.moora`.
 */
export function parseLogTarget(text: string | undefined, cwd: string): LogTarget {
  const shown = text ?? join(defaultFolder, "sessions.db");
  if (/^[a-z]+:\/\//i.test(shown)) return parseLogUrl(shown, cwd);
  const path = resolve(cwd, shown);
  if (/\.(db|sqlite3?)$/i.test(path))
    return { type: "sqlite", path, shown, secretFile: `${path}.mcp-secret` };
  const isFile = /\.jsonl$/i.test(path) && !isFolder(path);
  const folder = isFile ? dirname(path) : path;
  return { type: "jsonl", path: folder, shown, secretFile: `${folder}${sep}.mcp-secret` };
}

/** The address as commands repeat it: the user stays. A password may also be a parameter. */
function withoutPassword(url: URL): string {
  const shown = new URL(url);
  shown.password = "";
  for (const name of ["password", "sslpassword"]) shown.searchParams.delete(name);
  return shown.href;
}

function parseLogUrl(text: string, cwd: string): LogTarget {
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    throw usageError("--log is not a valid location for a log.", validTargets);
  const shown = withoutPassword(url);
  return {
    type: "postgres",
    url: text,
    shown,
    secretFile: join(cwd, defaultFolder, `${encodeURIComponent(`${url.host}${url.pathname}`)}.mcp-secret`),
  };
}

/**
 * Opens a log, and loads only the store that it needs. Its notices are shown on the screen. `creates`: whether a missing log is created.
 * Otherwise it counts as empty: looking for a session leaves no file behind.
 */
export async function openLog(target: LogTarget, screen: Screen, creates: boolean = true): Promise<EventLog> {
  const onNotice = (notice: LogNotice): void => screen.line(noticeToMessage(notice));
  switch (target.type) {
    case "postgres": {
      const { postgresLog } = await import("@moora/event-log-postgres");
      return postgresLog(target.url, { onNotice });
    }
    case "jsonl": {
      if (!creates && !existsSync(target.path)) return memoryLog();
      checkFolder(target);
      const { jsonlLog } = await import("@moora/event-log/jsonl");
      return jsonlLog(target.path, { onNotice });
    }
    case "sqlite": {
      if (!existsSync(target.path)) {
        if (!creates) return memoryLog();
        createLogFolder(dirname(target.path), target.shown);
      }
      const { sqliteLog } = await import("@moora/event-log/sqlite");
      return sqliteLog(target.path, { onNotice });
    }
  }
}

/**
 * Creates the folder of a log and those above it. Sessions contain private conversations: the folder is readable by its owner only, and
 * `.moora` is kept out of repositories. Throws `CliFailure`.
 */
export function createLogFolder(folder: string, shown: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (basename(folder) === defaultFolder) writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    if (existsSync(folder)) return;
    throw usageError(
      `Cannot create a log at ${shown}: ${codeOf(error) ?? "unknown error"}.`,
      "Name another location with --log.",
    );
  }
}

function checkFolder({ path, shown }: { readonly path: string; readonly shown: string }): void {
  if (existsSync(path) && !isFolder(path)) throw usageError(`${shown} is not a folder.`, validTargets);
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** A notice of a log, for people. */
function noticeToMessage({ type, id, afterSeq, droppedBytes }: LogNotice): string {
  switch (type) {
    case "torn-tail":
      return `The last write to "${id}" was interrupted: ${droppedBytes} unfinished bytes after record ${afterSeq} are ignored.`;
    case "damaged-snapshot":
      return `A snapshot of "${id}" is damaged and is ignored.`;
    case "unreadable-session":
      return `The session in ${id} cannot be read and is left out.`;
  }
}
