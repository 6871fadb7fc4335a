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
  | "approve"
  | "max-steps"
  | "max-tokens"
  | "trace"
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
  approve: {
    value: "WHEN",
    help: "When you are asked before a tool runs: ask, never, above:RISK. Default: above:medium.",
  },
  "max-steps": { value: "N", help: "Most calls of the model for one message. Default: 50." },
  "max-tokens": { value: "N", help: "Most tokens that one message may cost." },
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
