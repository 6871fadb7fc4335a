import { UsageError } from "./usage-error.ts";

/** One option of the command line. `value` is the placeholder of its value in help texts; a flag has none. */
export interface OptionRow {
  readonly value?: string;
  /** One letter that means the same. */
  readonly short?: string;
  /** Whether it may be given more than once. Of any other option the last value counts. */
  readonly repeats?: true;
  readonly help: string;
}

export type OptionName =
  | "provider"
  | "model"
  | "base-url"
  | "timeout"
  | "system"
  | "root"
  | "exclude"
  | "allow-fetch"
  | "tools"
  | "mcp"
  | "mcp-config"
  | "approve"
  | "approve-from-stdin"
  | "max-steps"
  | "max-tokens"
  | "trace"
  | "verbose"
  | "session"
  | "log"
  | "as"
  | "agent"
  | "auth"
  | "secret-file"
  | "allow-host"
  | "allow-origin"
  | "host"
  | "port"
  | "out"
  | "worker"
  | "at"
  | "from"
  | "to"
  | "open"
  | "args"
  | "result"
  | "reason"
  | "older-than"
  | "archive"
  | "copy-lost"
  | "dry-run"
  | "all"
  | "context"
  | "follow"
  | "json"
  | "help"
  | "version";

/** Every option of every command. A command lists those that it takes. */
const optionRows: Readonly<Record<OptionName, OptionRow>> = {
  provider: {
    value: "NAME",
    help: "The provider of the model; see below. Default: MOORA_PROVIDER, or the first whose key is set.",
  },
  model: { value: "NAME", help: "The model, as its provider names it. Default: MOORA_MODEL." },
  "base-url": { value: "URL", help: "Another address of the provider's API." },
  timeout: { value: "SECONDS", help: "How long the provider may send nothing before a retry. Default: 60." },
  system: { value: "TEXT", help: "The system prompt." },
  root: { value: "DIR", help: "The folder that the file tools may read. Default: the current folder." },
  exclude: {
    value: "PATH",
    repeats: true,
    help: "What the file tools never read, from --root or the current folder: **/*.key. May be repeated.",
  },
  "allow-fetch": { help: "Let the model read pages of the public internet." },
  tools: { value: "FILE", help: "A module of yours that exports tools for the agent." },
  mcp: {
    value: "WHAT",
    repeats: true,
    help: 'An MCP server with tools: a command in quotes or a URL; "NAME=WHAT" names it. May be repeated.',
  },
  "mcp-config": {
    value: "FILE",
    help: "Start the MCP servers that this file names, such as .moora/mcp.json.",
  },
  approve: {
    value: "WHEN",
    help: "When to ask before a tool runs: ask, never, above:RISK. Default: above:medium.",
  },
  "approve-from-stdin": { help: "Read decisions from standard input, one in each line." },
  "max-steps": { value: "N", help: "Maximum number of model calls for one message. Default: 50." },
  "max-tokens": { value: "N", help: "Maximum number of tokens for one message." },
  session: { value: "ID", help: "Keep the conversation under this name; resumes after a crash or restart." },
  log: {
    value: "WHERE",
    help: "Where sessions are: FILE.db, a folder, postgres://... Default: MOORA_LOG or .moora/sessions.db.",
  },
  agent: {
    value: "FILE",
    help: "A module of yours that exports agents.",
  },
  auth: {
    value: "FILE",
    help: 'A JSON file with the users and their tokens: {"users":[{"user":NAME,"token":TOKEN}]}.',
  },
  "secret-file": {
    value: "FILE",
    help: "The key that signs open questions of /mcp. Created if it is missing. Default: beside the log.",
  },
  "allow-host": {
    value: "NAME",
    repeats: true,
    help: "Another host by which a proxy reaches this server, such as agents.example.com. May be repeated.",
  },
  "allow-origin": {
    value: "ORIGIN",
    repeats: true,
    help: "An origin whose pages may use this server, such as https://app.example.com. May be repeated.",
  },
  host: {
    value: "ADDRESS",
    help: "The address to listen on; one that others can reach needs users. Default: 127.0.0.1.",
  },
  port: { value: "N", help: "The port to listen on; 0 for any free one. Default: 8787." },
  out: { value: "FILE", help: "Write the page to a new file instead, which opens without this program." },
  worker: { help: "Also run sessions whose work is due and that no process runs." },
  as: { value: "NAME", help: "The name that decisions are recorded under. Default: your user name." },
  at: { value: "N", help: "The record to look at; 0 is before the first. Default: the last." },
  from: { value: "N", help: "Start after this record. Default: 0, the beginning." },
  to: { value: "ID", help: "The name of the new session." },
  open: {
    value: "HOW",
    help: "Work in progress: reuse its recorded results, rerun it, or close it. Default: reuse.",
  },
  args: { value: "JSON", help: "Run the call with these arguments instead." },
  result: { value: "TEXT", help: "What the call returned, for worked: text or JSON." },
  reason: { value: "TEXT", help: "The reason; the model reads it." },
  "older-than": {
    value: "AGE",
    help: "How long a session has not changed: a number with m, h or d, such as 30d.",
  },
  archive: {
    value: "WHERE",
    help: "Where archived sessions are kept: FILE.db, a folder, postgres://... Default: beside the log.",
  },
  "copy-lost": {
    help: "Move a session again whose copy is lost. Its original stays closed until it is removed.",
  },
  "dry-run": { help: "Change nothing; print what would be pruned." },
  all: { help: "Show every difference of the two states." },
  context: {
    help: "Show only the tokens of the next request, what it leaves out, and where the cache missed.",
  },
  follow: { help: "Keep showing new records until Ctrl-C." },
  trace: { help: "Show the path through the control graph at the end." },
  verbose: { help: "Show log entries: retries, leases, late results, and what else is not an error." },
  json: { help: "Print one JSON object per line: every event, and the result." },
  help: { short: "h", help: "Show this help." },
  version: { short: "v", help: "Show the version." },
};

export const optionNames: readonly OptionName[] = Object.keys(optionRows).filter(isOptionName);

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(optionRows, name);
}

export const optionRow = (name: OptionName): OptionRow => optionRows[name];

/** The values of one option: a text, true for an option that takes none, or the texts of one that repeats. */
type OptionValue = string | true | readonly string[];

/** The options that were given. */
export class GivenOptions {
  readonly #values: ReadonlyMap<OptionName, OptionValue>;

  constructor(values: ReadonlyMap<OptionName, OptionValue> = new Map()) {
    this.#values = values;
  }

  get names(): readonly OptionName[] {
    return [...this.#values.keys()];
  }

  text(name: OptionName): string | undefined {
    const value = this.#values.get(name);
    return typeof value === "string" ? value : undefined;
  }

  /** The values of an option that repeats, in the order in which they were given. */
  texts(name: OptionName): readonly string[] {
    const value = this.#values.get(name);
    return typeof value === "object" ? value : [];
  }

  /** A positive integer up to `most`. Throws `UsageError` for another value. Undefined where the option is not given. */
  count(name: OptionName, most: number = 999_999_999): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most) return Number(text);
    throw new UsageError(`--${name} must be an integer from 1 to ${most}, got "${text}".`, "");
  }

  has(name: OptionName): boolean {
    return this.#values.has(name);
  }
}
