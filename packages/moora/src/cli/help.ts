import type { Command } from "./command.ts";
import { optionRowOf, type OptionName } from "./options.ts";

const exits: readonly string[] = [
  "Exit codes: 0 answered or done, 1 the agent failed or a check found something wrong, 2 invalid usage, 3 not found,",
  "4 another process is using the session, 5 refused, or nothing to do, 6 the log or the output cannot be read or written,",
  "7 waiting for a decision or for a resume, 8 answered, but a question was rejected because there was no terminal,",
  "130 canceled, 143 stopped.",
];

/** The help of the command line. */
export const overview = (commands: readonly Command[]): string =>
  [
    "moora: LLM agents on the command line.",
    "",
    ...commands.map(({ name, usage, summary }) => row(`moora ${name} ${usage}`.trimEnd(), summary, 42)),
    row("moora help [command]", "Show this help, or the help of one command.", 42),
    row("moora --version", "Show the version.", 42),
    "",
    "Answers go to standard output, everything else to standard error. Text that is piped to `moora run` is added to the",
    "task. Without a provider and without an API key the planner answers: a deterministic stand-in, not a language model.",
    "",
    ...exits,
  ].join("\n");

/** The help of one command, with its options. */
export async function commandHelp({
  name,
  usage,
  summary,
  options,
  optionHelp = {},
}: Command): Promise<string> {
  const rows = options.map((option) =>
    row(optionUsage(option), optionHelp[option] ?? optionRowOf(option).help),
  );
  const providers = options.includes("provider")
    ? ["", "Providers, and the environment variable of the API key:", ...(await providerRows())]
    : [];
  return [`moora ${name} ${usage}`.trimEnd(), summary, "", ...rows, ...providers, "", ...exits].join("\n");
}

const optionUsage = (name: OptionName): string => {
  const { value } = optionRowOf(name);
  return value === undefined ? `--${name}` : `--${name} ${value}`;
};

/** Loaded on demand: the providers import their SDKs, which takes a while. */
async function providerRows(): Promise<readonly string[]> {
  const { providers } = await import("./providers.ts");
  return providers.map(({ name, keyName, variables, needsModel }) => {
    const none = needsModel ? "none: runs on this machine" : "none: not a language model";
    const sets = variables?.map((set) => set.join(" + ")).join(" or ");
    return row(name, keyName ?? sets ?? none);
  });
}

const row = (left: string, right: string, width: number = 22): string => `  ${left.padEnd(width)} ${right}`;
