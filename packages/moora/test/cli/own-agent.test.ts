import { join } from "node:path";
import { defineAgent, openSession } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { calculatorTool } from "@moora/tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

const moduleAt = (name: string): string => join(import.meta.dirname, `${name}.ts`);
const counter = moduleAt("served-agent");

async function cli(args: readonly string[], input = "") {
  const host = new TestHost({ cwd: place.path });
  return { code: await host.run(args, input), out: host.stdout.text, err: host.stderr.text };
}

describe("run and chat with an agent of a module", () => {
  it("run it, without the model and the tools of the command line", async () => {
    const ran = await cli(["run", "What is 2 + 2?", "--agent", counter]);
    expect(ran).toMatchObject({ code: 0, out: "According to calculator: 2 + 2 = 4.\n" });
    expect(ran.err).not.toContain("not a language model");
    const chat = await cli(["chat", "--agent", counter], "/tools\n3 + 3\n");
    expect(chat).toMatchObject({ code: 0, out: "According to calculator: 3 + 3 = 6.\n" });
    expect(chat.err).not.toContain("read_file");
  });

  it("keep a session of its name, and run a session that another program began", async () => {
    const log = sqliteLog(place.at("own.db"));
    const llm = new MockLlmCaller([answers("Hello.")]);
    const session = await openSession(defineAgent({ name: "counter", llm }), { log, id: "ada" });
    await session.ask("Hi.");
    await session.close();
    await log.close();
    const at = ["--session", "ada", "--log", "own.db"];
    const ran = await cli(["run", "2 + 2", "--agent", counter, ...at]);
    expect(ran, ran.err).toMatchObject({ code: 0, out: "According to calculator: 2 + 2 = 4.\n" });
    expect((await cli(["show", "ada", "--log", "own.db"])).out).toContain("assistant: Hello.");
    const several = await cli(["run", "2 + 2", "--agent", moduleAt("agents-module"), ...at]);
    expect(several).toMatchObject({
      code: 2,
      err: expect.stringContaining('The session ada belongs to the agent "counter", and '),
    });
    const ofCommandLine = await cli(["run", "2 + 2", ...at]);
    expect(ofCommandLine.code).toBe(2);
    expect(ofCommandLine.err).toContain('belongs to the agent "counter", not to "moora". Run it with');
  });

  it("adopt a raised limit of the module for a loop that it has ended, so that a retry continues", async () => {
    const log = sqliteLog(place.at("own.db"));
    const llm = new MockLlmCaller([callsTools([{ name: "calculator", arguments: { expression: "2 + 2" } }])]);
    const config = { limits: { maxSteps: 1 } };
    const agent = defineAgent({ name: "counter", llm, tools: [calculatorTool()], config });
    const session = await openSession(agent, { log, id: "ada" });
    await expect(session.ask("2 + 2")).rejects.toThrow("limits.maxSteps is 1.");
    await session.close();
    await log.close();
    const run = ["run", "--session", "ada", "--log", "own.db", "--agent", counter];
    const retry = ["retry", "ada", "--log", "own.db"];

    const failed = await cli(retry);
    expect(failed).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^Tried again. It is record \d+.\n$/),
    });
    expect(failed.err).toContain("moora: The agent failed. The loop reached its limit of model calls. ");
    expect(failed.err).toContain("It failed at once, and does so until its agent has other settings");
    expect(failed.err).toContain("moora run --session ada --agent FILE --log own.db");
    const adopted = await cli(run);
    expect(adopted.code).toBe(5);
    expect(adopted.err).toContain("limit of model calls. Try it again: moora retry ada --log own.db. ");
    const retried = await cli(retry);
    expect(retried.code, retried.err).toBe(0);
    expect(retried.err).toContain("If no process runs the session: moora run --session ada --agent FILE");
    expect(await cli(run)).toMatchObject({ code: 0, out: "According to calculator: 2 + 2 = 4.\n" });
  });

  it("give it the context of its module, and the user of the command line", async () => {
    const ran = await cli(["run", "who", "--agent", moduleAt("made-context-module")]);
    expect(ran, ran.err).toMatchObject({ code: 0, out: expect.stringContaining("ada") });
  });

  it.each([
    [
      ["--agent", counter, "--model", "m"],
      "--model cannot be used with --agent. The module defines its agents.",
    ],
    [
      ["--agent", counter, "--mcp", "npx x"],
      "--mcp cannot be used with --agent. The module defines its agents.",
    ],
    [
      ["--agent", moduleAt("agents-module")],
      'exports several agents: "one", "two". A new session needs a module that exports one.',
    ],
    [["--agent", moduleAt("context-module")], "needs a context. Export a function context"],
  ])("refuse %j", async (options, message) => {
    const { code, out, err } = await cli(["run", "2 + 2", ...options]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
    expect(err.split("\n")).toHaveLength(2);
  });
});
