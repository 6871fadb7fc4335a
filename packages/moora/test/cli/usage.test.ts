import { describe, expect, it } from "vitest";
import { exitCodes } from "../../src/cli/cli-host.ts";
import { commands } from "../../src/cli/commands.ts";
import { optionNames, optionRow } from "../../src/cli/options.ts";
import { providers } from "../../src/cli/providers.ts";
import { TestHost } from "./test-host.ts";

const told = async (args: readonly string[], env: Record<string, string> = {}): Promise<string> => {
  const host = new TestHost({ env });
  expect(await host.run(args, "")).toBe(2);
  expect(host.stdout.text).toBe("");
  return host.stderr.text;
};

describe("a command line that makes no sense ends with 2 and a hint", () => {
  it.each([
    [[], `moora: Which command? There are ${commands.map(({ name }) => name).join(", ")}; see moora help.\n`],
    [["rnu", "x"], "moora: There is no command rnu. Did you mean run?\n"],
    [["frobnicate"], 'moora: There is no command frobnicate. For a task say moora run "frobnicate ...".\n'],
    [
      ["run"],
      'moora: There is no task. Say moora run "what to do", or moora run - to read it from standard input.\n',
    ],
    [["chat", "hello"], 'moora: chat takes no words. For one task say moora run "hello".\n'],
    [["run", "--modle", "x"], "moora: There is no option --modle. Did you mean --model?\n"],
    [["run", "--colour", "x"], "moora: There is no option --colour. See moora help.\n"],
    [["run", "-x"], "moora: There is no option -x. See moora help.\n"],
    [["run", "x", "--model"], "moora: --model needs a value. Say --model NAME.\n"],
    [["run", "x", "--model="], "moora: --model needs a value. Say --model NAME.\n"],
    [
      ["run", "--model", "--json", "x"],
      "moora: --model needs a value. If the value is --json, say --model=--json.\n",
    ],
    [["run", "x", "--json=yes"], "moora: --json takes no value. Say --json by itself.\n"],
    [["run", "x", "--provider", "opnai"], "moora: There is no provider opnai. Did you mean openai?\n"],
    [
      ["run", "x", "--approve", "above:hgih"],
      "moora: --approve cannot be above:hgih. Did you mean above:high?\n",
    ],
    [["run", "x", "--max-steps", "0"], "moora: --max-steps cannot be 0. It is a whole number above 0.\n"],
    [["run", "x", "--max-steps", "1.5"], "moora: --max-steps cannot be 1.5. It is a whole number above 0.\n"],
    [
      ["run", "x", "--max-tokens", "many"],
      "moora: --max-tokens cannot be many. It is a whole number above 0.\n",
    ],
    [
      ["run", "x", "--model", "m"],
      "moora: --model is given, but no provider, and no key is set. Name one with --provider.\n",
    ],
    [
      ["run", "x", "--provider", "planner", "--model", "m"],
      "moora: The planner takes no --model. Name a provider with --provider.\n",
    ],
    [
      ["run", "x", "--provider", "anthropic", "--model", "m"],
      "moora: There is no key for anthropic: ANTHROPIC_API_KEY is not set. Set it, or take --provider planner, which needs none and is no language model.\n",
    ],
    [
      ["run", "x", "--provider", "ollama"],
      "moora: Which model of ollama? Say --model NAME, or set MOORA_MODEL; --provider planner needs none and is no language model.\n",
    ],
    [
      ["run", "x", "--provider", "ollama", "--model", "m", "--base-url", "localhost"],
      "moora: --base-url is no address. It begins with http:// or https://.\n",
    ],
    [["help", "rn"], "moora: There is no command rn. Did you mean run?\n"],
  ])("%j", async (args, words) => {
    expect(await told(args)).toBe(words);
  });

  it("a folder that is not there, and an empty task", async () => {
    expect(await told(["run", "x", "--root", "/no/such/folder"])).toContain(
      "There is no folder /no/such/folder.",
    );
    expect(await told(["run", "-"])).toContain("There is no task.");
    expect(await told(["run", "  "])).toContain("There is no task.");
  });

  it("prints nothing that a terminal would obey", async () => {
    expect(await told(["\u001b[2Jrun"])).not.toContain("\u001b");
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
    for (const { name, summary } of commands) {
      expect(text).toContain(`moora ${name}`);
      expect(text).toContain(summary);
    }
    for (const code of Object.values(exitCodes)) expect(text).toMatch(new RegExp(`\\b${code} [a-z]`));
  });

  it.each(commands)(
    "of $name names each of its options, and every provider where it takes one",
    async ({ name, options }) => {
      const text = await shown("help", name);
      expect(await shown(name, "--help")).toBe(text);
      for (const option of options) {
        expect(text).toContain(`--${option}`);
        expect(text).toContain(optionRow(option).help);
      }
      if (options.includes("provider"))
        for (const provider of providers) expect(text).toContain(`${provider.name} `);
    },
  );

  it("fits a terminal", async () => {
    const pages = [
      await shown("help"),
      ...(await Promise.all(commands.map(({ name }) => shown("help", name)))),
    ];
    for (const line of pages.join("\n").split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  });

  it("every option is taken by a command, or by all of them", () => {
    const taken = new Set<string>([...commands.flatMap(({ options }) => options), "version"]);
    expect(optionNames.filter((name) => !taken.has(name))).toEqual([]);
  });

  it("and the version is that of the package", async () => {
    expect(await shown("--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
