import type { Command } from "./command.ts";
import { optionRow, type OptionName } from "./options.ts";

/** What the number that a command ends with says. */
const exits: readonly string[] = [
  "Exit codes: 0 answered or done, 1 the agent failed or a check did, 2 the command line makes no sense,",
  "3 no such session or call, 4 another process is at it, 5 decided before, or refused, 6 the log is damaged, newer or",
  "out of reach, 130 cancelled, 143 stopped.",
];

/** What there is. */
export const overview = (commands: readonly Command[]): string =>
  [
    "moora: agents on the command line.",
    "",
    ...commands.map(({ name, usage, summary }) => row(`moora ${name} ${usage}`.trimEnd(), summary, 41)),
    row("moora help [command]", "Show this, or the options of a command.", 41),
    row("moora --version", "Show the version.", 41),
    "",
    "Answers go to standard output, everything else to standard error. Without a provider and without a key the planner",
    "is used, which is no language model.",
    "",
    ...exits,
  ].join("\n");

/** One command with its options. */
export async function commandHelp({ name, usage, summary, options }: Command): Promise<string> {
  const rows = options.map((option) => row(optionWords(option), optionRow(option).help));
  const told = options.includes("provider")
    ? ["", "Providers, and the variable that holds the key:", ...(await providerRows())]
    : [];
  return [`moora ${name} ${usage}`.trimEnd(), summary, "", ...rows, ...told, "", ...exits].join("\n");
}

const optionWords = (name: OptionName): string => {
  const { value } = optionRow(name);
  return value === undefined ? `--${name}` : `--${name} ${value}`;
};

/** The providers come with their SDKs, which take a while to load. */
async function providerRows(): Promise<readonly string[]> {
  const { providers } = await import("./providers.ts");
  return providers.map(({ name, keyName, needsModel }) =>
    row(name, keyName ?? (needsModel ? "none needed: on this machine" : "none needed: no language model")),
  );
}

const row = (left: string, right: string, width: number = 22): string => `  ${left.padEnd(width)} ${right}`;
