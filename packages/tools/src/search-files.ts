import { defineTool, type Tool } from "@moora/agent-core-effects";
import { fileText } from "./files/file-text.ts";
import { patternMatcher, textMatcher, type LineMatcher } from "./files/line-matcher.ts";
import { matchesNamePattern } from "./files/name-pattern.ts";
import { refusedToReply } from "./files/refused-to-reply.ts";
import type { RootFolder } from "./files/root-folder.ts";
import { walk } from "./files/walk.ts";
import { Refused } from "./refused.ts";
import { flagAt, textAt } from "./tool-input.ts";

const maxMatches = 200;
const maxFiles = 10_000;
const maxFileBytes = 2_000_000;
const shownLineLength = 300;

/** Creates `search_files` for a root folder. */
export const searchFilesTool = (root: RootFolder): Tool =>
  defineTool({
    name: "search_files",
    description:
      "Searches the contents of files (find, grep): which lines of which files contain (mention, use) a text. " +
      `Returns file:line: text, at most ${maxMatches}. Leaves out node_modules, .git, .moora and binary files.`,
    input: {
      type: "object",
      properties: {
        query: { type: "string", minLength: 1, maxLength: 1_000, description: "The text to look for." },
        path: { type: "string", description: "The folder or file to search. Default: all." },
        name: {
          type: "string",
          maxLength: 200,
          description: "Only files whose name fits this pattern, such as *.ts.",
        },
        regex: {
          type: "boolean",
          description: "Whether the query is a regular expression of RE2, for single lines.",
        },
        ignore_case: { type: "boolean", description: "Whether to ignore case." },
      },
      required: ["query"],
      additionalProperties: false,
    },
    risk: "low",
    replay: "safe",
    timeoutMs: 60_000,
    execute: (input, { signal }) =>
      refusedToReply(async () => {
        const query = textAt(input, "query");
        const ignoresCase = flagAt(input, "ignore_case");
        const matcher = flagAt(input, "regex")
          ? await patternMatcher(query, ignoresCase)
          : textMatcher(query, ignoresCase);
        const name = textAt(input, "name");
        const files = filesIn(root, textAt(input, "path", "."), signal);
        return await searched(root, files, {
          matcher,
          fits: (file) => matchesNamePattern(name || "*", file),
          signal,
        });
      }),
  });

interface Search {
  readonly matcher: LineMatcher;
  /** Whether a file is searched, by its path. */
  readonly fits: (file: string) => boolean;
  readonly signal: AbortSignal;
}

/** The lines found, and what was left out. A file that is missing or unreadable is skipped. */
async function searched(root: RootFolder, files: AsyncIterable<string>, search: Search): Promise<string> {
  const { matcher, fits, signal } = search;
  const found: string[] = [];
  let [count, tooLarge, cut] = [0, 0, ""];
  for await (const path of files) {
    if (!fits(path)) continue;
    if (count === maxFiles) cut = `only ${maxFiles} files were searched`;
    if (cut !== "") break;
    const file = await fileText(root, path, { maxBytes: maxFileBytes, signal }).catch(unlessRefused);
    if (file?.type === "too-large") tooLarge += 1;
    if (file?.type !== "text") continue;
    count += 1;
    const matches = file.text
      .split(/\r?\n/)
      .flatMap((line, index) => (matcher(line) ? [`${path}:${index + 1}: ${shownLine(line)}`] : []));
    found.push(...matches.slice(0, maxMatches + 1));
    if (found.length > maxMatches) cut = `the first ${maxMatches} lines are shown`;
  }
  const skipped =
    tooLarge === 0 ? "" : ` ${counted(tooLarge, "large file")} ${tooLarge === 1 ? "was" : "were"} skipped.`;
  const shown = found.slice(0, maxMatches);
  const matches =
    shown.length === 1
      ? "1 line matches"
      : `${shown.length || "No"} line${shown.length === 0 ? " matches" : "s match"}`;
  const mark = cut === "" ? [] : [`[cut: ${cut}]`];
  return [`${matches} in ${counted(count, "file")}.${skipped}`, ...shown, ...mark].join("\n");
}

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof Refused)) throw error;
}

/** The files of a folder and of those below it, or the one file of the path. */
async function* filesIn(root: RootFolder, path: string, signal: AbortSignal): AsyncGenerator<string, void> {
  try {
    for await (const entry of walk(root, path, { depth: Number.POSITIVE_INFINITY, signal }))
      if (entry.kind === "file") yield entry.path;
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "not-a-folder") throw error;
    yield path;
  }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

function shownLine(line: string): string {
  const text = line.trim();
  return text.length <= shownLineLength ? text : `${text.slice(0, shownLineLength).toWellFormed()} [cut]`;
}
