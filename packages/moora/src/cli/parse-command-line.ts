import { parseArgs } from "node:util";
import { nearest } from "@moora/agent-core-effects/internal";
import {
  isOptionName,
  optionNames,
  optionRowOf,
  readValue,
  type OptionName,
  type Options,
} from "./options.ts";
import { UsageError } from "./usage-error.ts";

/** A command line, split into arguments and options. */
export interface CommandLine {
  readonly args: readonly string[];
  readonly options: Options;
}

/** Throws `UsageError` for an unknown option, a missing or invalid value, and a value for an option that takes none. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(optionNames.map((name) => [name, parserOption(name)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const positionals: string[] = [];
  const values = new Map<OptionName, unknown>();
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    if (!isOptionName(token.name)) throw unknownOptionError(token.rawName);
    values.set(token.name, valueOf(token.name, token, values.get(token.name)));
  }
  // Each value is that of its row.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { args: positionals, options: Object.fromEntries(values) as Options };
}

function parserOption(name: OptionName): { type: "boolean" | "string"; short?: string } {
  const { value, short } = optionRowOf(name);
  return { type: value === undefined ? "boolean" : "string", ...(short !== undefined && { short }) };
}

interface Given {
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

/** `earlier`: the value of the same option before it on the command line. */
function valueOf(name: OptionName, { value, inlineValue }: Given, earlier: unknown): unknown {
  const { value: placeholder, repeats } = optionRowOf(name);
  if (placeholder === undefined) {
    if (value === undefined) return true;
    throw new UsageError(`--${name} does not take a value.`, "");
  }
  if (value === undefined || value === "")
    throw new UsageError(`Missing value for --${name}.`, `Use --${name} ${placeholder}.`);
  if (inlineValue !== true && value.startsWith("-"))
    throw new UsageError(`Missing value for --${name}.`, `For the value "${value}" use --${name}=${value}.`);
  if (repeats === true) return [...(Array.isArray(earlier) ? earlier : []), value];
  return readValue(name, value);
}

function unknownOptionError(rawName: string): UsageError {
  const meant = nearest(rawName.replace(/^-+/, ""), optionNames);
  return new UsageError(
    `Unknown option "${rawName}".`,
    meant === undefined ? undefined : `Did you mean "--${meant}"?`,
  );
}
