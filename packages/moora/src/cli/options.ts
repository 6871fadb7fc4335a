import type { AgentConfig, OpenWork } from "@moora/agent";
import { didYouMean } from "@moora/agent-core-effects/internal";
import type { Json } from "@moora/llm";
import { lostInJson, textToJson } from "@moora/llm/internal";
import { usageError } from "./cli-failure.ts";

/** One option of the command line. `value` is the placeholder of its value in help texts; a flag has none. */
interface OptionRow {
  readonly value?: string;
  /** One letter that means the same. */
  readonly short?: string;
  /** Whether it may be given more than once. Of any other option the last value counts. */
  readonly repeats?: true;
  /** How the value is read. Default: as it is. */
  readonly type?: keyof Values;
  readonly help: string;
}

/** What each type of value is read as. */
interface Values {
  readonly count: number;
  readonly timeout: number;
  readonly port: number;
  readonly position: number;
  readonly age: number;
  readonly url: string;
  readonly json: Json;
  readonly policy: AgentConfig["approval"]["policy"];
  readonly openWork: OpenWork;
}

/** Throws `CliFailure` for a text that does not fit. */
type Reader<Value> = (text: string, name: string) => Value;

/** A positive integer up to `most`. */
const count =
  (most: number): Reader<number> =>
  (text, name) => {
    if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most) return Number(text);
    throw usageError(`--${name} must be an integer from 1 to ${most}, got "${text}".`, "");
  };

const port: Reader<number> = (text) => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw usageError(`--port must be an integer from 0 to 65535, got "${text}".`, "");
};

const position: Reader<number> = (text, name) => {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const hint = "To see the records: moora log";
  throw usageError(`--${name} must be the number of a record, got "${text}".`, hint);
};

/** One of the names of a table; its value. */
const oneOf =
  <Value>(table: Readonly<Record<string, Value>>): Reader<Value> =>
  (text, name) => {
    const value = Object.hasOwn(table, text) ? table[text] : undefined;
    if (value !== undefined) return value;
    throw usageError(`Invalid value for --${name}: "${text}".`, nearestHint(text, Object.keys(table)));
  };

/** What to do about a name that is not known: the nearest one, or all. */
export function nearestHint(text: string, names: readonly string[]): string {
  return didYouMean(text, names).trim() || `Use one of ${names.join(", ")}.`;
}

const policies: Readonly<Record<string, Values["policy"]>> = {
  ask: "always",
  never: "never",
  "above:low": { above: "low" },
  "above:medium": { above: "medium" },
  "above:high": { above: "high" },
  "above:critical": { above: "critical" },
};

const json: Reader<Json> = (text, name) => {
  const value = textToJson(text);
  if (value === undefined) throw usageError(`--${name} must be JSON.`, `Use --${name} '{"name": "value"}'.`);
  const lost = lostInJson(text);
  if (lost !== undefined) throw usageError(`--${name}: ${lost}`);
  return value;
};

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** An age in milliseconds. */
const age: Reader<number> = (text, name) => {
  const [, amount, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  if (unit === "m" || unit === "h" || unit === "d") return Number(amount) * unitMs[unit];
  throw usageError(
    `--${name} must be a whole number above 0 with m, h or d, got "${text}".`,
    name === "older-than" ? ageHint : "",
  );
};

export const ageHint = "For sessions that have not changed for 30 days: moora prune --older-than 30d";

const httpUrl: Reader<string> = (text, name) => {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text;
  throw usageError(`--${name} must be a URL that begins with http:// or https://.`, "");
};

const readers: { readonly [Type in keyof Values]: Reader<Values[Type]> } = {
  count: count(999_999_999),
  timeout: count(86_400),
  port,
  position,
  age,
  url: httpUrl,
  json,
  policy: oneOf(policies),
  openWork: oneOf<OpenWork>({ reuse: "reuse", rerun: "rerun", close: "close" }),
};

/** Every option of every command. A command lists those that it takes. */
const optionRows = {
  provider: {
    value: "NAME",
    help: "The provider of the model; see below. Default: MOORA_PROVIDER, or the first whose key is set.",
  },
  model: { value: "NAME", help: "The model, as its provider names it. Default: MOORA_MODEL." },
  "base-url": { value: "URL", type: "url", help: "Another address of the provider's API." },
  timeout: {
    value: "SECONDS",
    type: "timeout",
    help: "How long the provider may send nothing before a retry. Default: 60.",
  },
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
    type: "policy",
    help: "When to ask before a tool runs: ask, never, above:RISK. Default: above:medium.",
  },
  "approve-from-stdin": { help: "Read decisions from standard input, one in each line." },
  "max-steps": {
    value: "N",
    type: "count",
    help: "Maximum number of model calls for one message. Default: 50.",
  },
  "max-tokens": { value: "N", type: "count", help: "Maximum number of tokens for one message." },
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
  port: { value: "N", type: "port", help: "The port to listen on; 0 for any free one. Default: 8787." },
  out: {
    value: "FILE",
    help: "The new file for the page. Default: one in a temporary folder, which is opened.",
  },
  worker: { help: "Also run sessions whose work is due and that no process runs." },
  as: { value: "NAME", help: "The name that decisions are recorded under. Default: your user name." },
  at: {
    value: "N",
    type: "position",
    help: "The record to look at; 0 is before the first. Default: the last.",
  },
  from: { value: "N", type: "position", help: "Start after this record. Default: 0, the beginning." },
  to: { value: "ID", help: "The name of the new session." },
  open: {
    value: "HOW",
    type: "openWork",
    help: "Work in progress: reuse its recorded results, rerun it, or close it. Default: reuse.",
  },
  args: { value: "JSON", type: "json", help: "Run the call with these arguments instead." },
  result: { value: "TEXT", help: "What the call returned, for worked: text or JSON." },
  reason: { value: "TEXT", help: "The reason; the model reads it." },
  time: { value: "TIME", help: "Once, at a time in ISO 8601 with an offset, such as 2030-01-31T09:00:00Z." },
  every: { value: "AGE", type: "age", help: "Again and again: a number with m, h or d, such as 30m." },
  cron: { value: "TEXT", help: 'At the times of a cron expression with five fields, such as "0 9 * * 1-5".' },
  "time-zone": { value: "ZONE", help: "The IANA time zone of --cron, such as Europe/Berlin. Default: UTC." },
  "skip-missed": { help: "Skip a time that no process could keep. Default: run once, later." },
  id: { value: "ID", help: "The id of the schedule: it replaces one of this id. Default: a random one." },
  remove: { value: "ID", help: "Remove the schedule with this id." },
  "older-than": {
    value: "AGE",
    type: "age",
    help: "How long a session has not changed: a number with m, h or d, such as 30d.",
  },
  archive: {
    value: "WHERE",
    help: "Where archived sessions are kept: FILE.db, a folder, postgres://... Default: beside the log.",
  },
  "copy-lost": {
    help: "Move a session again whose copy is lost. Its original stays closed until it is removed.",
  },
  "keep-open": { help: "Keep sessions with work in progress, such as an open question, or a schedule." },
  "dry-run": { help: "Change nothing; print what would be pruned." },
  junit: { value: "FILE", help: "Write a report for CI systems, in the XML of JUnit." },
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
} as const;

type Rows = typeof optionRows;

export type OptionName = keyof Rows;

type ValueOf<Row extends OptionRow> = Row extends { readonly type: infer Type extends keyof Values }
  ? Values[Type]
  : Row extends { readonly repeats: true }
    ? readonly string[]
    : Row extends { readonly value: string }
      ? string
      : true;

/** The options that were given, with their values. */
export type Options = { readonly [Name in OptionName]?: ValueOf<Rows[Name]> };

export const optionRowOf = (name: OptionName): OptionRow => optionRows[name];

/** Reads the value of an option. Throws `CliFailure` for one that does not fit. */
export function readValue(name: OptionName, text: string): unknown {
  const { type } = optionRowOf(name);
  return type === undefined ? text : readers[type](text, name);
}

export const isOptionName = (name: string): name is OptionName => Object.hasOwn(optionRows, name);

export const optionNames: readonly OptionName[] = Object.keys(optionRows).filter(isOptionName);
