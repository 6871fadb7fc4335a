import { parseArgs } from "node:util";
import { nearest } from "@moora/agent-core-effects/internal";
import { GivenOptions, isOptionName, optionNames, optionRow, type OptionName } from "./options.ts";
import { UsageError } from "./usage-error.ts";

/** A command line, split into arguments and options. */
export interface CommandLine {
  readonly args: readonly string[];
  readonly options: GivenOptions;
}

/** Throws `UsageError` for an unknown option, a missing value, and a value for an option that takes none. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(optionNames.map((name) => [name, parserOption(name)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const positionals: string[] = [];
  const values = new Map<OptionName, string | true | readonly string[]>();
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    if (!isOptionName(token.name)) throw unknownOptionError(token.rawName);
    const value = validValue(token.name, token.value, token.inlineValue === true);
    const before = values.get(token.name) ?? [];
    const isList = optionRow(token.name).repeats === true && typeof value === "string";
    values.set(token.name, isList && typeof before === "object" ? [...before, value] : value);
  }
  return { args: positionals, options: new GivenOptions(values) };
}

function parserOption(name: OptionName): { type: "boolean" | "string"; short?: string } {
  const { value, short } = optionRow(name);
  return { type: value === undefined ? "boolean" : "string", ...(short !== undefined && { short }) };
}

function validValue(name: OptionName, value: string | undefined, isInline: boolean): string | true {
  const placeholder = optionRow(name).value;
  if (placeholder === undefined) {
    if (value === undefined) return true;
    throw new UsageError(`--${name} does not take a value.`, "");
  }
  if (value === undefined || value === "")
    throw new UsageError(`Missing value for --${name}.`, `Use --${name} ${placeholder}.`);
  if (!isInline && value.startsWith("-"))
    throw new UsageError(`Missing value for --${name}.`, `For the value "${value}" use --${name}=${value}.`);
  return value;
}

function unknownOptionError(rawName: string): UsageError {
  const meant = nearest(rawName.replace(/^-+/, ""), optionNames);
  return new UsageError(
    `Unknown option "${rawName}".`,
    meant === undefined ? undefined : `Did you mean "--${meant}"?`,
  );
}
