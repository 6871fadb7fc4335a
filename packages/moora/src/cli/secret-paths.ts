import { realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { CliHost } from "./cli-host.ts";
import type { GivenOptions, OptionName } from "./options.ts";
import type { LogTarget } from "./session/log-target.ts";
import { logTargetOf } from "./session/session-call.ts";

/** The options whose values are files with secrets. */
const secretFiles: readonly OptionName[] = ["auth", "mcp-config", "secret-file"];

/** What a folder of JSONL files has of its log. */
const jsonlNames = ["*.jsonl*", "*.lease*", "*.snapshot*", ".locks", ".tools", ".mcp-secret*", "blobs"];

/**
 * The paths that the file tools of `root` never read: the users and their tokens, the sessions of all users, `.moora`, and those of
 * `--exclude`. For `exclude` of `fileTools`.
 */
export function secretPaths(
  options: GivenOptions,
  host: Pick<CliHost, "env" | "cwd">,
  root: string,
): readonly string[] {
  const files = secretFiles.flatMap((name) => options.text(name) ?? []);
  return [
    ...[...files, ...options.texts("exclude"), ".moora"].map((path) => resolve(host.cwd, path)),
    ...logPaths(logTargetOf(options, host), root),
  ];
}

/** The files of a log and of its default archive. */
function logPaths(target: LogTarget, root: string): readonly string[] {
  switch (target.type) {
    case "postgres":
      return [target.toolsFolder];
    case "sqlite": {
      const files = [target.path, realPathOf(target.path)];
      return [...files.map((file) => `${file}*`), join(dirname(target.path), "archive.db*")];
    }
    case "jsonl": {
      const archive = `${target.path}-archive`;
      // Of a folder in which the root is, only what is of the log: otherwise nothing could be read.
      if (!contains(target.path, root)) return [target.path, archive];
      return [...jsonlNames.map((name) => join(target.path, name)), archive];
    }
  }
}

const contains = (folder: string, path: string): boolean =>
  !relative(realPathOf(folder), realPathOf(path)).startsWith("..");

function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
