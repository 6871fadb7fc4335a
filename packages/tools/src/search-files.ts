import { defineTool, type Tool } from "@moora/agent-core-effects";
import { fileText } from "./files/file-text.ts";
import { patternMatcher, textMatcher, type LineMatcher } from "./files/line-matcher.ts";
import { matchesNamePattern } from "./files/name-pattern.ts";
import { refusedToReply } from "./files/refused-to-reply.ts";
import { PathRefused, type RootFolder } from "./files/root-folder.ts";
import { walk } from "./files/walk.ts";
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
        const search = new FileSearch(root, matcher, signal);
        await search.run(textAt(input, "path", "."), textAt(input, "name"));
        return search.report();
      }),
  });

/** One search: the lines found, the files skipped, and why it stopped. */
class FileSearch {
  readonly #root: RootFolder;
  readonly #matcher: LineMatcher;
  readonly #signal: AbortSignal;
  readonly #found: string[] = [];
  #searched = 0;
  #tooLarge = 0;
  #cut = "";

  constructor(root: RootFolder, matcher: LineMatcher, signal: AbortSignal) {
    this.#root = root;
    this.#matcher = matcher;
    this.#signal = signal;
  }

  async run(path: string, name: string): Promise<void> {
    for await (const file of this.#files(path)) {
      if (name !== "" && !matchesNamePattern(name, file)) continue;
      if (this.#searched === maxFiles) this.#cut = `only ${maxFiles} files were searched`;
      if (this.#cut !== "") return;
      await this.#searchFile(file);
    }
  }

  report(): string {
    const files = counted(this.#searched, "file");
    const skipped =
      this.#tooLarge === 0
        ? ""
        : ` ${counted(this.#tooLarge, "large file")} ${this.#tooLarge === 1 ? "was" : "were"} skipped.`;
    const mark = this.#cut === "" ? [] : [`[cut: ${this.#cut}]`];
    if (this.#found.length === 0) return [`No line matches in ${files}.${skipped}`, ...mark].join("\n");
    const count = this.#found.length === 1 ? "1 line matches" : `${this.#found.length} lines match`;
    return [`${count} in ${files}.${skipped}`, ...this.#found, ...mark].join("\n");
  }

  async *#files(path: string): AsyncGenerator<string, void, undefined> {
    try {
      const signal = this.#signal;
      for await (const entry of walk(this.#root, path, { depth: Number.POSITIVE_INFINITY, signal }))
        if (entry.kind === "file") yield entry.path;
    } catch (error) {
      if (!(error instanceof PathRefused) || error.code !== "not-a-folder") throw error;
      yield path;
    }
  }

  async #searchFile(path: string): Promise<void> {
    const file = await this.#textOf(path);
    if (file === undefined || file.type === "binary") return;
    if (file.type === "too-large") {
      this.#tooLarge += 1;
      return;
    }
    this.#searched += 1;
    for (const [index, line] of file.text.split(/\r?\n/).entries()) {
      if (!this.#matcher(line)) continue;
      if (this.#found.length === maxMatches) {
        this.#cut = `the first ${maxMatches} lines are shown`;
        return;
      }
      this.#found.push(`${path}:${index + 1}: ${shownLine(line)}`);
    }
  }

  /** A file that is missing or unreadable is skipped. */
  async #textOf(path: string): Promise<Awaited<ReturnType<typeof fileText>> | undefined> {
    try {
      return await fileText(this.#root, path, { maxBytes: maxFileBytes, signal: this.#signal });
    } catch (error) {
      if (error instanceof PathRefused) return undefined;
      throw error;
    }
  }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

function shownLine(line: string): string {
  const text = line.trim();
  return text.length <= shownLineLength ? text : `${text.slice(0, shownLineLength).toWellFormed()} [cut]`;
}
