import type { Command } from "./command.ts";
import { optionRow, type OptionName } from "./options.ts";
import { providers } from "./providers.ts";

const exits = `Exit codes: 0 answered, 1 the agent failed, 2 the command line makes no sense, 130 cancelled.`;

/** What there is. */
export const overview = (commands: readonly Command[]): string =>
  [
    "moora: agents on the command line.",
    "",
    ...commands.map(({ name, usage, summary }) => row(`moora ${name} ${usage}`.trimEnd(), summary)),
    row("moora help [command]", "Show this, or the options of a command."),
    row("moora --version", "Show the version."),
    "",
    "Answers go to standard output, everything else to standard error. Without a provider and without a key the planner",
    "is used, which is no language model.",
    "",
    exits,
  ].join("\n");

/** One command with its options. */
export function commandHelp({ name, usage, summary, options }: Command): string {
  const rows = options.map((option) => row(optionWords(option), optionRow(option).help));
  const told = options.includes("provider")
    ? ["", "Providers, and the variable that holds the key:", ...providers.map(providerRow)]
    : [];
  return [`moora ${name} ${usage}`.trimEnd(), summary, "", ...rows, ...told, "", exits].join("\n");
}

const optionWords = (name: OptionName): string => {
  const { value } = optionRow(name);
  return value === undefined ? `--${name}` : `--${name} ${value}`;
};

const providerRow = ({ name, keyName, needsModel }: (typeof providers)[number]): string =>
  row(name, keyName ?? (needsModel ? "none needed: on this machine" : "none needed: no language model"));

const row = (left: string, right: string): string => `  ${left.padEnd(22)} ${right}`;
