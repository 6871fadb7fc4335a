/** One option of the command line. With `value` it takes one; that is the word for it in the help. */
export interface OptionRow {
  readonly value?: string;
  readonly help: string;
}

export type OptionName =
  | "provider"
  | "model"
  | "base-url"
  | "system"
  | "root"
  | "allow-fetch"
  | "tools"
  | "approve"
  | "max-steps"
  | "max-tokens"
  | "trace"
  | "session"
  | "log"
  | "as"
  | "at"
  | "from"
  | "to"
  | "open"
  | "args"
  | "reason"
  | "follow"
  | "json"
  | "help"
  | "version";

/** Every option that any command takes. A command names those it knows. */
const optionRows: Readonly<Record<OptionName, OptionRow>> = {
  provider: {
    value: "NAME",
    help: "Who runs the model; see below. Default: MOORA_PROVIDER, or the first whose key is set.",
  },
  model: { value: "NAME", help: "The model, as its provider names it. Default: MOORA_MODEL." },
  "base-url": { value: "URL", help: "Another address of the provider's API." },
  system: { value: "TEXT", help: "What the model is told before anything else." },
  root: { value: "DIR", help: "The folder that the file tools may read. Default: this one." },
  "allow-fetch": { help: "Let the model read pages of the public internet." },
  tools: { value: "FILE", help: "A module of yours, whose exports are tools for the agent." },
  approve: {
    value: "WHEN",
    help: "When you are asked before a tool runs: ask, never, above:RISK. Default: above:medium.",
  },
  "max-steps": { value: "N", help: "Most calls of the model for one message. Default: 50." },
  "max-tokens": { value: "N", help: "Most tokens that one message may cost." },
  session: { value: "ID", help: "Keep the conversation under this name; a crash or a stop is gone on from." },
  log: {
    value: "WHERE",
    help: "Where sessions are: FILE.db, a folder of JSONL, postgres://... Default: MOORA_LOG or .moora.",
  },
  as: { value: "NAME", help: "Who decides. Default: your name on this machine." },
  at: { value: "N", help: "The record at which; 0 is the beginning. Default: the last." },
  from: { value: "N", help: "The record after which. Default: 0, the beginning." },
  to: { value: "ID", help: "The name of the new session." },
  open: {
    value: "HOW",
    help: "What was under way: reuse what came of it, again, or close it as not run. Default: reuse.",
  },
  args: { value: "JSON", help: "Other arguments for the call than those that were asked for." },
  reason: { value: "TEXT", help: "Why; the model reads it." },
  follow: { help: "Go on with what comes, until Ctrl-C." },
  trace: { help: "Show the walk through the control graph at the end." },
  json: { help: "Print one JSON object a line: every event, and the result." },
  help: { help: "Show this." },
  version: { help: "Show the version." },
};

export const optionNames: readonly OptionName[] = Object.keys(optionRows).filter(isOptionName);

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(optionRows, name);
}

export const optionRow = (name: OptionName): OptionRow => optionRows[name];

/** The options that were given: the text of those that take a value, true for the others. */
export class GivenOptions {
  private readonly values: ReadonlyMap<OptionName, string | true>;

  constructor(values: ReadonlyMap<OptionName, string | true> = new Map()) {
    this.values = values;
  }

  get names(): readonly OptionName[] {
    return [...this.values.keys()];
  }

  text(name: OptionName): string | undefined {
    const value = this.values.get(name);
    return typeof value === "string" ? value : undefined;
  }

  has(name: OptionName): boolean {
    return this.values.has(name);
  }
}
