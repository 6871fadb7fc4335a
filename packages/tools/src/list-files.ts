import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { defineTool, type Tool } from "@moora/agent-core-effects";
import { kilobytes } from "./files/file-text.ts";
import { matchesNamePattern } from "./files/name-pattern.ts";
import { refusedToReply } from "./files/refused-to-reply.ts";
import type { RootFolder } from "./files/root-folder.ts";
import { walk, type FoundEntry } from "./files/walk.ts";
import { flagAt, textAt } from "./tool-input.ts";

const maxEntries = 500;
/** Entries that are visited, whether or not they match the pattern. */
const maxVisited = 50_000;

/** Creates `list_files` for a root folder. */
export const listFilesTool = (root: RootFolder): Tool =>
  defineTool({
    name: "list_files",
    description:
      "Lists the files and folders in a folder (directory), with sizes. Folders end in /. " +
      `Leaves out node_modules, .git and .moora; at most ${maxEntries} entries.`,
    input: {
      type: "object",
      properties: {
        path: { type: "string", description: 'The folder, relative to the root. Default: ".", the root.' },
        recursive: { type: "boolean", description: "Whether to list the folders below it, too." },
        name: {
          type: "string",
          maxLength: 200,
          description: "Only names that fit this pattern, such as *.ts.",
        },
      },
      additionalProperties: false,
    },
    risk: "low",
    replay: "safe",
    timeoutMs: 30_000,
    execute: (input, { signal }) =>
      refusedToReply(async () => {
        const path = textAt(input, "path", ".");
        const name = textAt(input, "name");
        const lines: string[] = [];
        let visited = 0;
        let cut = "";
        for await (const entry of walk(root, path, { depth: flagAt(input, "recursive") ? 32 : 1, signal })) {
          visited += 1;
          if (visited > maxVisited) cut = `only ${maxVisited} entries were visited`;
          else if (name !== "" && !matchesNamePattern(name, entry.path)) continue;
          else if (lines.length === maxEntries) cut = `the first ${maxEntries} entries are shown`;
          if (cut !== "") break;
          lines.push(await entryLine(root, entry));
        }
        if (cut !== "") return [...lines, `[cut: ${cut}; ask for a folder or a name]`].join("\n");
        return lines.length === 0 ? "No files found." : lines.join("\n");
      }),
  });

async function entryLine(root: RootFolder, { path, kind }: FoundEntry): Promise<string> {
  const name = lineName(path);
  if (kind === "folder") return `${name}/`;
  if (kind === "link") return `${name} (link)`;
  if (kind === "other") return `${name} (not a regular file)`;
  const stats = await lstat(join(root.path, path)).catch(() => undefined);
  return stats === undefined ? name : `${name} (${kilobytes(stats.size)})`;
}

/** A name with control characters is quoted, so that it cannot look like several lines. */
export const lineName = (path: string): string => (/\p{Cc}/u.test(path) ? JSON.stringify(path) : path);
