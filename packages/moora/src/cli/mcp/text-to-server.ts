import type { ConfiguredServer, McpServerAddress } from "@moora/mcp";
import { usageError } from "../cli-failure.ts";

/**
 * The server that a value of `--mcp` names: a URL, or a command with its arguments, which may be quoted. `NAME=` before it is its
 * name; without one it has the name of the program or of the host. Throws `CliFailure` for an invalid value.
 */
export function textToServer(text: string): ConfiguredServer {
  const [, name, what = ""] = /^(?:([a-z][a-z0-9_-]{0,31})=)?(.*)$/s.exec(text.trim()) ?? [];
  const server = /^https?:\/\//i.test(what) ? urlToServer(what) : commandToServer(what);
  return { name: name ?? nameOf(server), server };
}

function urlToServer(text: string): McpServerAddress {
  if (URL.canParse(text)) return { url: text };
  throw usageError(`--mcp "${text}" is not a valid URL.`, "");
}

function commandToServer(text: string): McpServerAddress {
  const [command, ...args] = wordsOf(text);
  if (command === undefined)
    throw usageError("--mcp needs a command or a URL.", 'Use --mcp "npx -y some-server".');
  return { command, args };
}

/** The words of a command: separated by blanks, unless these are quoted or follow a backslash. */
function wordsOf(text: string): readonly string[] {
  const parts = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)|(['"\\])/gs;
  const words: string[] = [];
  let word: string | undefined;
  for (const [part, single, double, escaped, plain, open] of text.matchAll(parts)) {
    if (open !== undefined) throw usageError(`--mcp "${text}" has a quotation mark without its end.`, "");
    if (/^\s/.test(part)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + (single ?? double?.replaceAll(/\\(["\\])/g, "$1") ?? escaped ?? plain ?? "");
  }
  return word === undefined ? words : [...words, word];
}

/** Programs that run the one that their arguments name. */
const runners: ReadonlySet<string> = new Set([
  "npx",
  "bunx",
  "pnpm",
  "dlx",
  "uvx",
  "uv",
  "run",
  "node",
  "deno",
  "docker",
]);

/** The name of a server without one: `filesystem` for `npx -y @modelcontextprotocol/server-filesystem`. */
function nameOf(server: McpServerAddress): string {
  const text =
    "url" in server ? new URL(server.url).hostname : programOf([server.command, ...(server.args ?? [])]);
  const name = text.replaceAll(/[^A-Za-z0-9_-]/g, "_").replace(/^[^A-Za-z0-9]+/, "");
  return name === "" ? "mcp" : name.slice(0, 32);
}

function programOf(words: readonly string[]): string {
  const base = (word: string): string => (word.split(/[/\\]/).at(-1) ?? "").replace(/@[^@]*$/, "");
  const program = words.find((word) => !word.startsWith("-") && !runners.has(base(word))) ?? "";
  return base(program)
    .replace(/\.[cm]?[jt]s$/, "")
    .replace(/^(?:mcp-)?server-|-mcp(?:-server)?$|^mcp-/, "");
}
