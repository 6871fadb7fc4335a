import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { CliHost } from "./cli-host.ts";
import type { Options } from "./options.ts";
import type { LogTarget } from "./session/log-target.ts";
import { logTargetOf } from "./session/session-call.ts";

/** The options whose values are files with secrets. */
const secretFiles = ["auth", "mcp-config", "secret-file"] as const;

/** What a folder of JSONL files has of its log. */
const jsonlNames = ["*.jsonl*", "*.lease*", "*.snapshot*", ".locks", ".mcp-secret*", "blobs"];

/**
 * The paths that no file tools read while a command runs: the users and their tokens, the sessions of all users, `.moora`, and those of
 * `--exclude`, which count from the current folder and, as they are, from the root of each tools. For `excludeFromFileTools`.
 */
export function secretPaths(options: Options, host: Pick<CliHost, "env" | "cwd">): readonly string[] {
  const files = secretFiles.flatMap((name) => options[name] ?? []);
  const excluded = options.exclude ?? [];
  return [
    ...[...files, ...excluded, ".moora"].map((path) => resolve(host.cwd, path)),
    ...excluded,
    ...logPaths(logTargetOf(options, host)),
  ];
}

/** The files of a log and of its default archive. */
function logPaths(target: LogTarget): readonly string[] {
  switch (target.type) {
    case "postgres":
      return [];
    case "sqlite": {
      const files = [target.path, realPathOf(target.path)];
      return [...files.map((file) => `${file}*`), join(dirname(target.path), "archive.db*")];
    }
    case "jsonl":
      // Not the folder itself: the root of the tools may be in it.
      return [...jsonlNames.map((name) => join(target.path, name)), `${target.path}-archive`];
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
