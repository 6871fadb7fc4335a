import { defineTool, type Tool, type ToolReply } from "@moora/agent-core-effects";
import type { JsonObject } from "@moora/llm";
import { fileText, kilobytes } from "./files/file-text.ts";
import { refusedToReply } from "./files/refused-to-reply.ts";
import type { RootFolder } from "./files/root-folder.ts";
import { countAt, textAt } from "./tool-input.ts";

const maxBytes = 10_000_000;
const maxLines = 2_000;
const maxLength = 60_000;

/** Creates `read_file` for a root folder. */
export const readFileTool = (root: RootFolder): Tool =>
  defineTool({
    name: "read_file",
    description:
      "Reads a text file and shows (prints) its contents, whole or by lines. " +
      `At most ${maxLines} lines at a time; binary files are not shown.`,
    input: {
      type: "object",
      properties: lineFields("The file, relative to the root."),
      required: ["path"],
      additionalProperties: false,
    },
    risk: "low",
    replay: "safe",
    timeoutMs: 30_000,
    execute: (input, { signal }) => shownFile(root, input, signal),
  });

/** The fields of the input of a tool that shows a file: which one, and which of its lines. */
export const lineFields = (path: string): JsonObject => ({
  path: { type: "string", minLength: 1, description: path },
  from_line: { type: "integer", minimum: 1, description: "First line to read. Default: 1." },
  line_count: { type: "integer", minimum: 1, maximum: maxLines, description: "How many lines to read." },
});

/** What a tool with `lineFields` shows of a file inside the root. */
export const shownFile = async (
  root: RootFolder,
  input: JsonObject,
  signal: AbortSignal,
): Promise<string | ToolReply> =>
  await refusedToReply(async () => {
    const path = textAt(input, "path");
    const file = await fileText(root, path, { maxBytes, signal });
    if (file.type === "too-large") {
      throw new Error(
        `${path} is too large: ${kilobytes(file.bytes)}; the maximum is ${kilobytes(maxBytes)}.`,
      );
    }
    if (file.type === "binary")
      return `${path} is a binary file of ${kilobytes(file.bytes)}; it is not shown.`;
    const from = countAt(input, "from_line", 1);
    return shownLines(path, file.text, from, countAt(input, "line_count", maxLines));
  });

/** The lines below a heading with their numbers, and a note where some are omitted. */
function shownLines(path: string, text: string, from: number, count: number): string {
  if (text === "") return `${path} is empty.`;
  const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
  if (from > lines.length) return `${path} has ${lines.length} lines; line ${from} does not exist.`;
  const shown: string[] = [];
  let length = 0;
  for (const line of lines.slice(from - 1, from - 1 + count)) {
    if (length + line.length > maxLength && shown.length > 0) break;
    shown.push(
      line.length > maxLength ? `${line.slice(0, maxLength).toWellFormed()} [cut: a long line]` : line,
    );
    length += line.length + 1;
  }
  const last = from - 1 + shown.length;
  const rest = last < lines.length ? [`[cut: ${lines.length - last} more lines, from line ${last + 1}]`] : [];
  const head = `${path}, lines ${from} to ${last} of ${lines.length}:`;
  return [head, ...shown, ...rest].join("\n");
}
