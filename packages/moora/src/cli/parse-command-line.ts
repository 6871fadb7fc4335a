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
import { usageError, type CliFailure } from "./cli-failure.ts";

/** A command line, split into arguments and options. */
export interface CommandLine {
  readonly args: readonly string[];
  readonly options: Options;
}

/**
 * `optionsOf`: the options of the command that the first argument names; undefined where it names none. Throws `CliFailure` for an option
 * that the command does not have, a missing or invalid value, and a value for an option that takes none.
 */
export function parseCommandLine(
  args: readonly string[],
  optionsOf: (command: string) => readonly OptionName[] | undefined = () => undefined,
): CommandLine {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(optionNames.map((name) => [name, parserOption(name)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const positionals = tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []));
  const [command = ""] = positionals;
  const known = optionsOf(command);
  const values = new Map<OptionName, unknown>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { name } = token;
    if (!isOptionName(name) || (known !== undefined && !known.includes(name) && name !== "version"))
      throw unknownOptionError(token.rawName, command, known);
    values.set(name, valueOf(name, token, values.get(name)));
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
    throw usageError(`--${name} does not take a value.`, "");
  }
  if (value === undefined || value === "")
    throw usageError(`Missing value for --${name}.`, `Use --${name} ${placeholder}.`);
  if (inlineValue !== true && value.startsWith("-"))
    throw usageError(`Missing value for --${name}.`, `For the value "${value}" use --${name}=${value}.`);
  if (repeats === true) return [...(Array.isArray(earlier) ? earlier : []), value];
  return readValue(name, value);
}

function unknownOptionError(
  rawName: string,
  command: string,
  known: readonly OptionName[] | undefined,
): CliFailure {
  const name = rawName.replace(/^-+/, "");
  const help = known === undefined ? "Run: moora help" : `Run: moora help ${command}`;
  if (known !== undefined && isOptionName(name))
    return usageError(`"moora ${command}" does not take the option --${name}.`, help);
  const meant = nearest(name, known ?? optionNames);
  return usageError(
    `Unknown option "${rawName}".`,
    meant === undefined ? help : `Did you mean "--${meant}"?`,
  );
}
