import { describe, expect, it } from "vitest";
import { exitCodes } from "../../src/cli/cli-host.ts";
import { commands } from "../../src/cli/commands.ts";
import { optionNames, optionRowOf } from "../../src/cli/options.ts";
import { providers } from "../../src/cli/providers.ts";
import { TestHost } from "./test-host.ts";

const errorOf = async (args: readonly string[], env: Record<string, string> = {}): Promise<string> => {
  const host = new TestHost({ env });
  expect(await host.run(args, "")).toBe(2);
  expect(host.stdout.text).toBe("");
  return host.stderr.text;
};

describe("an invalid command line ends with 2 and a hint", () => {
  it.each([
    [["--json"], "moora: Missing command. Run: moora help\n"],
    [["caht"], 'moora: Unknown command "caht". Did you mean "chat"?\n'],
    [["frobnicate"], 'moora: Unknown command "frobnicate". To run a task: moora run "frobnicate ..."\n'],
    [
      ["run"],
      'moora: Missing task. Use moora run "what to do", or moora run - to read it from standard input.\n',
    ],
    [["chat", "hello"], 'moora: "moora chat" takes no arguments. To run one task: moora run "hello"\n'],
    [["run", "--modle", "x"], 'moora: Unknown option "--modle". Did you mean "--model"?\n'],
    [["run", "--colour", "x"], 'moora: Unknown option "--colour". Run: moora help run\n'],
    [["run", "-x"], 'moora: Unknown option "-x". Run: moora help run\n'],
    [["prune", "--modle", "x"], 'moora: Unknown option "--modle". Run: moora help prune\n'],
    [["--modle", "x", "run"], 'moora: Unknown option "--modle". Did you mean "--model"?\n'],
    [["prune", "--keep"], 'moora: Unknown option "--keep". Did you mean "--keep-open"?\n'],
    [["run", "x", "--at", "1"], 'moora: "moora run" does not take the option --at. Run: moora help run\n'],
    [["run", "x", "--model"], "moora: Missing value for --model. Use --model NAME.\n"],
    [["run", "x", "--model="], "moora: Missing value for --model. Use --model NAME.\n"],
    [
      ["run", "--model", "--json", "x"],
      'moora: Missing value for --model. For the value "--json" use --model=--json.\n',
    ],
    [["run", "x", "--json=yes"], "moora: --json does not take a value.\n"],
    [["run", "x", "--provider", "opnai"], 'moora: Unknown provider "opnai". Did you mean "openai"?\n'],
    [
      ["run", "x", "--approve", "above:hgih"],
      'moora: Invalid value for --approve: "above:hgih". Did you mean "above:high"?\n',
    ],
    [
      ["run", "x", "--max-steps", "0"],
      'moora: --max-steps must be an integer from 1 to 999999999, got "0".\n',
    ],
    [
      ["run", "x", "--max-steps", "1.5"],
      'moora: --max-steps must be an integer from 1 to 999999999, got "1.5".\n',
    ],
    [
      ["run", "x", "--max-tokens", "many"],
      'moora: --max-tokens must be an integer from 1 to 999999999, got "many".\n',
    ],
    [
      ["run", "x", "--timeout", "1000000"],
      'moora: --timeout must be an integer from 1 to 86400, got "1000000".\n',
    ],
    [
      ["run", "x", "--model", "m"],
      "moora: --model needs a provider, and no API key is set. Name a provider with --provider.\n",
    ],
    [
      ["run", "x", "--provider", "planner", "--model", "m"],
      'moora: --model cannot be used with the provider "planner". Name another one with --provider.\n',
    ],
    [
      ["run", "x", "--provider", "anthropic", "--model", "m"],
      "moora: Missing API key for anthropic: ANTHROPIC_API_KEY is not set. Set it. --provider planner needs none; it is not a language model.\n",
    ],
    [
      ["run", "x", "--provider", "ollama"],
      "moora: Missing model for ollama. Pass --model NAME, or set MOORA_MODEL. --provider planner needs none; it is not a language model.\n",
    ],
    [
      ["run", "x", "--provider", "ollama", "--model", "m", "--base-url", "localhost"],
      "moora: --base-url must be a URL that begins with http:// or https://.\n",
    ],
    [
      ["run", "x", "-", "--approve-from-stdin"],
      'moora: "-" and --approve-from-stdin cannot both read standard input.\n',
    ],
    [["help", "rn"], 'moora: Unknown command "rn". Did you mean "run"?\n'],
  ])("%j", async (args, message) => {
    expect(await errorOf(args)).toBe(message);
  });

  it("a folder that does not exist, and an empty task", async () => {
    expect(await errorOf(["run", "x", "--root", "/no/such/folder"])).toContain(
      "The folder /no/such/folder does not exist.",
    );
    expect(await errorOf(["run", "-"])).toContain("Missing task.");
    expect(await errorOf(["run", "  "])).toContain("Missing task.");
  });

  it("escapes control characters", async () => {
    expect(await errorOf(["\u001b[2Jrun"])).not.toContain("\u001b");
  });
});

describe("help", () => {
  const shown = async (...args: readonly string[]): Promise<string> => {
    const host = new TestHost();
    expect(await host.run(args)).toBe(0);
    return host.stdout.text;
  };

  it("names every command and the exit codes", async () => {
    const text = await shown("--help");
    expect(await shown("help")).toBe(text);
    expect(await shown("-h")).toBe(text);
    expect(await shown()).toBe(text);
    for (const { name, summary } of commands) {
      expect(text).toContain(`moora ${name}`);
      expect(text).toContain(summary);
    }
    for (const code of Object.values(exitCodes)) expect(text).toMatch(new RegExp(`\\b${code} [a-z]`));
  });

  it.each(commands)(
    "of $name names each of its options, and every provider if it has the option",
    async ({ name, options, optionHelp = {} }) => {
      const text = await shown("help", name);
      expect(await shown(name, "--help")).toBe(text);
      for (const option of options) {
        expect(text).toContain(`--${option}`);
        expect(text).toContain(optionHelp[option] ?? optionRowOf(option).help);
      }
      if (options.includes("provider"))
        for (const provider of providers) expect(text).toContain(`${provider.name} `);
    },
  );

  it.each([
    [
      "fork",
      "--at N                 The last record to copy; 0 copies none. Default: the last of the session.",
    ],
    ["fork", "--json                 Print the id and the records of the new session as one JSON object."],
    ["log", "--json                 Print one JSON object per line, one for each record."],
    ["sessions", "--json                 Print one JSON object per line, one for each session."],
    ["settle", "--json                 Print the decision as one JSON object."],
    ["verify", "--json                 Print the result as one JSON object."],
    ["run", "--json                 Print one JSON object per line: every event, and the result."],
    ["show", "--at N                 The record to look at; 0 is before the first. Default: the last."],
  ])("of %s says what an option means for it: %s", async (command, line) => {
    expect(await shown("help", command)).toContain(`  ${line}\n`);
  });

  it("fits a terminal", async () => {
    const pages = [
      await shown("help"),
      ...(await Promise.all(commands.map(({ name }) => shown("help", name)))),
    ];
    for (const line of pages.join("\n").split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  });

  it("every option belongs to a command, or to all of them", () => {
    const taken = new Set<string>([...commands.flatMap(({ options }) => options), "version"]);
    expect(optionNames.filter((name) => !taken.has(name))).toEqual([]);
  });

  it("and the version is that of the package", async () => {
    expect(await shown("--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await shown("-v")).toBe(await shown("--version"));
  });
});
