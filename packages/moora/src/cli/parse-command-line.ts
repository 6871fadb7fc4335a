import { parseArgs } from "node:util";
import { nearest } from "@moora/agent-core-effects";
import { GivenOptions, isOptionName, optionNames, optionRow, type OptionName } from "./options.ts";
import { UsageError } from "./usage-error.ts";

/** A command line, read but not yet understood. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly options: GivenOptions;
}

/** Throws `UsageError` for an option that there is not, one without its value, and one with a value it does not take. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { tokens } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(
        optionNames.map((name) => [
          name,
          { type: optionRow(name).value === undefined ? ("boolean" as const) : ("string" as const) },
        ]),
      ),
      h: { type: "boolean" as const },
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const words: string[] = [];
  const values = new Map<OptionName, string | true>();
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const name = token.rawName === "-h" ? "help" : token.name;
    if (!token.rawName.startsWith("--") && name !== "help") throw unknownOption(token.rawName);
    if (!isOptionName(name)) throw unknownOption(token.rawName);
    values.set(name, checkedValue(name, token.value, token.inlineValue === true));
  }
  return { words, options: new GivenOptions(values) };
}

function checkedValue(name: OptionName, value: string | undefined, isInline: boolean): string | true {
  const word = optionRow(name).value;
  if (word === undefined) {
    if (value === undefined) return true;
    throw new UsageError(`--${name} takes no value.`, `Say --${name} by itself.`);
  }
  if (value === undefined || value === "")
    throw new UsageError(`--${name} needs a value.`, `Say --${name} ${word}.`);
  if (!isInline && value.startsWith("-"))
    throw new UsageError(`--${name} needs a value.`, `If the value is ${value}, say --${name}=${value}.`);
  return value;
}

function unknownOption(rawName: string): UsageError {
  const meant = nearest(rawName.replace(/^-+/, ""), optionNames);
  const hint = meant === undefined ? undefined : `Did you mean --${meant}?`;
  return new UsageError(`There is no option ${rawName}.`, hint);
}
