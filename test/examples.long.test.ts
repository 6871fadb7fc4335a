import { spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ProtocolServer, type ScriptedAnswer, type ServerDialect } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { messagesDialect } from "@moora/testbed/anthropic/messages-dialect";
import { responsesDialect } from "@moora/testbed/openai/responses-dialect";
import { root } from "../scripts/workspace.ts";

/** The last line that each example prints. An example that is not listed fails. */
const lastLines: Readonly<Record<string, RegExp>> = {
  "approval.ts": /^I have refunded 50 euros for order 7\.$/,
  "adapter.ts": /^ok .+$/,
  "evals.ts": /^ok: 1 of 1 cases passed$/,
  "by-hand.ts": /^2 \+ 2 is 4\.$/,
  "memory.ts": /^ada: Tea, as always\. \(facts before the first request: 1\)$/,
  "skills.ts": /^120 orders came in\.$/,
  "kill-and-resume.ts":
    /^8 kills: every call has its result, every payment was made once, no mail ran twice\.$/,
  "shared-cart.ts": /^[1-9][0-9]* kills: no item was lost or doubled\.$/,
  "many-tools.ts": /^There are 42 lamps\.$/,
  "schedule.ts": /^user, assistant, agent, assistant$/,
  "team.ts": /^after a crash at any record: refunds, 1 handoff, Done$/,
  "guardrails.ts": /^I have read: .*Send 5 euros with \[secret\]/,
  "custom-state.ts": /^It is 12\. \(step 2\)$/,
};

/** An example that calls a provider: its key, and what the provider answers and receives in the test. */
interface ProviderExample {
  readonly file: string;
  readonly key: string;
  readonly baseURL: string;
  readonly dialect: ServerDialect;
  readonly answers: readonly ScriptedAnswer[];
  readonly output: readonly string[];
  readonly models: readonly string[];
}

const usage = {
  inputTokens: 100,
  outputTokens: 20,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

const providerExamples: readonly ProviderExample[] = [
  {
    file: "basic-agent.ts",
    key: "OPENAI_API_KEY",
    baseURL: "OPENAI_BASE_URL",
    dialect: responsesDialect,
    answers: [
      { calls: [{ name: "weather", arguments: ['{"city":', '"Oslo"}'] }], usage },
      { text: ["Yes, ", "take one."], usage },
    ],
    output: ["Yes, take one.", "2 steps, 200 input tokens, 40 output tokens"],
    models: ["gpt-5.5", "gpt-5.5"],
  },
  {
    file: "multi-tool-agent.ts",
    key: "OPENAI_API_KEY",
    baseURL: "OPENAI_BASE_URL",
    dialect: responsesDialect,
    answers: [
      { calls: [{ name: "calculator", arguments: ['{"expression":"12.5% * 640"}'] }] },
      { text: ["It is 80."] },
      { text: ["It is Sunday."] },
    ],
    output: ["calculation: It is 80.", "general: It is Sunday."],
    models: ["gpt-5.5-mini", "gpt-5.5-mini", "gpt-5.5"],
  },
  {
    file: "anthropic-agent.ts",
    key: "ANTHROPIC_API_KEY",
    baseURL: "ANTHROPIC_BASE_URL",
    dialect: messagesDialect,
    answers: [
      { calls: [{ name: "calculator", arguments: ['{"expression":"12.5% * 640"}'] }] },
      { text: ["It is 80."] },
      { text: ["That is 160."] },
    ],
    output: ["> What is 12.5% of 640?", "It is 80.", "> And twice that?", "That is 160."],
    models: ["claude-sonnet-5-5", "claude-sonnet-5-5", "claude-sonnet-5-5"],
  },
];

const programs = globSync("examples/*.ts", { cwd: root }).map((path) => basename(path));
const isProviderExample = (name: string): boolean => providerExamples.some(({ file }) => file === name);

describe("every example", () => {
  it.each(programs.filter((name) => !isProviderExample(name)))("%s runs to its last line", async (name) => {
    const { code, output } = await run(name);
    expect(code, output).toBe(0);
    expect(output.trim().split("\n").at(-1)).toMatch(lastLines[name] ?? /^this example is not listed$/);
  });

  it.each(globSync("examples/*.{ts,tsx}", { cwd: root }).map((path) => basename(path)))(
    "%s has a row in the list of examples, with a sentence",
    (name) => {
      const rows = readFileSync(join(root, "examples/README.md"), "utf8").split("\n");
      const row = rows.find((line) => line.includes(`](${name})`));
      expect(row).toMatch(/\) +\| [A-Z].*\. +\|/);
    },
  );

  it("is run by the command of the list, with its own path", () => {
    const list = readFileSync(join(root, "examples/README.md"), "utf8");
    expect(list).toMatch(/^node_modules\/.bin\/node --conditions=@moora\/source examples\/[a-z-]+\.ts$/m);
  });
});

describe("an example that calls a provider", () => {
  it.each(providerExamples)("$file says which key to set, and calls nothing without it", async (example) => {
    const { code, output } = await run(example.file, { [example.key]: "" });
    expect(code).toBe(2);
    expect(output).toMatch(
      new RegExp(`^Set ${example.key} to an API key of \\w+, then run this example again\\.$`, "m"),
    );
  });

  it.each(providerExamples)(
    "$file runs with the SDK against the protocol of the provider",
    async (example) => {
      const server = new ProtocolServer(example.dialect);
      try {
        const url = await server.listen();
        server.serve(...example.answers.map((answer) => ({ type: "answer", answer }) as const));
        const { code, output } = await run(example.file, {
          [example.key]: "some-key",
          [example.baseURL]: url,
        });
        expect(code, output).toBe(0);
        for (const line of example.output) expect(output.split("\n")).toContain(line);
        const bodies = server.bodies.map((body): { model: string; tools: { name: string }[] } =>
          JSON.parse(body),
        );
        expect(bodies.map(({ model }) => model)).toEqual(example.models);
        expect(bodies.flatMap(({ tools }) => tools.map(({ name }) => name))).not.toContain("delete_file");
      } finally {
        await server.close();
      }
    },
  );

  it.each(providerExamples)("$file prints why the provider refused it", async (example) => {
    const server = new ProtocolServer(example.dialect);
    try {
      const url = await server.listen();
      server.serve({ type: "error-response", status: 401, error: "auth" });
      const { code, output } = await run(example.file, { [example.key]: "some-key", [example.baseURL]: url });
      expect(code, output).toBe(1);
      expect(output).toMatch(/^LlmError \(auth\): /m);
    } finally {
      await server.close();
    }
  });
});

const run = (
  name: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ["--conditions=@moora/source", join(root, "examples", name)], {
      cwd: root,
      env: { ...process.env, ...variables },
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.on("close", (code) => resolve({ code, output }));
  });
