import { mkdirSync } from "node:fs";
import { defineAgent, defineTool, openSession, type Tool } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Child } from "./child.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { FakeProvider, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";
import { toolsFile } from "./wire-tool.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

const prompt = "What happened? [r]un again, [w]orked, [f]ailed, [u]nknown: ";

/** A session in which a call was interrupted while it ran, and a reviewer has to report its outcome. */
async function interrupted(onUnknown: "ask" | "report" = "ask"): Promise<void> {
  const running = Promise.withResolvers<void>();
  const wire: Tool = defineTool({
    name: "wire",
    description: "Wires money.",
    input: { type: "object", properties: { euros: { type: "number" } } },
    replay: "once",
    onUnknown,
    ...(onUnknown === "report" && { approval: "always" as const }),
    execute: () => {
      running.resolve();
      return new Promise<string>(() => undefined);
    },
  });
  mkdirSync(place.at(".moora"), { mode: 0o700 });
  const log = sqliteLog(place.at(".moora", "sessions.db"));
  const llm = new MockLlmCaller([callsTools([{ name: "wire", arguments: { euros: 9 } }])]);
  const agent = defineAgent({ name: "moora", llm, tools: [wire] });
  const session = await openSession(agent, { log, id: "ada", onApproval: () => "approve" });
  await session.send("Wire 9 euros.");
  await running.promise;
  await session.close();
  await log.close();
}

/** Runs the interrupted session to its end, where no person is asked: the model reads that the outcome is unknown. */
async function finished(): Promise<void> {
  const log = sqliteLog(place.at(".moora", "sessions.db"));
  const llm = new MockLlmCaller([answers("I do not know whether it was wired.")]);
  const session = await openSession(defineAgent({ name: "moora", llm }), { log, id: "ada" });
  await session.settled();
  await session.close();
  await log.close();
}

/** A command without a terminal. */
async function cli(...args: readonly string[]) {
  const host = new TestHost({ cwd: place.path });
  return { code: await host.run(args), out: host.stdout.text, err: host.stderr.text };
}

/** Resumes the session at a terminal, and replies to the question. Returns what the terminal showed. */
async function replied(
  provider: FakeProvider,
  ...lines: readonly (readonly [prompt: string, line: string])[]
) {
  const host = new TestHost({ isTTY: true, env: { NO_COLOR: "1" }, cwd: place.path });
  const code = host.run(["run", "--session", "ada", "--tools", toolsFile, ...provider.options]);
  for (const [shown, line] of lines) {
    await host.stderr.showsPrompt(shown);
    host.stdin.write(`${line}\r`);
    await new Promise(setImmediate);
  }
  expect(await code).toBe(0);
  return host;
}

describe("a call with an unknown outcome, at the terminal", () => {
  it.each([
    ["r", [[prompt, "r"]], "wired again", "call_1 wire decided to run again by ada"],
    ["w", [[prompt, "w receipt 77"]], "receipt 77", "call_1 wire reported as worked by ada: receipt 77"],
    [
      "w and its result",
      [
        [prompt, "w"],
        ["What did it return? (optional) ", "receipt 78"],
      ],
      "receipt 78",
      "call_1 wire reported as worked by ada: receipt 78",
    ],
    ["f", [[prompt, "f no money"]], "no money", "call_1 wire reported as failed by ada: no money"],
    ["u", [[prompt, "u"]], "unknown", "call_1 wire reported as unknown by ada"],
  ] as const)("is asked about in words of its own, and takes %s", async (_, lines, content, record) => {
    await interrupted();
    await using provider = await FakeProvider.start(says("Fine."));
    const host = await replied(provider, ...lines);
    expect(host.stderr.text).toContain(
      'The call of wire was interrupted. It is unknown whether it took effect. It was called with\n{\n  "euros": 9\n}\n',
    );
    expect(host.stderr.text).not.toContain("Allow it?");
    expect(JSON.stringify(provider.bodies[0])).toContain(content);
    expect((await cli("log", "ada")).out).toContain(record);
  });

  it.each(["y", "a", "n", "e {}", ""])("does not accept %j as an outcome", async (line) => {
    await interrupted();
    await using provider = await FakeProvider.start(says("Fine."));
    const host = await replied(provider, [prompt, line], [prompt, "u"]);
    expect(host.stderr.text).toContain("Type r to run it again, w and its result, f and a reason, or u");
    expect((await cli("log", "ada")).out).not.toContain("wire started, attempt 2");
  });
});

describe("a call with an unknown outcome, without a terminal", () => {
  it("leaves the question open, with the commands that settle it", async () => {
    await interrupted();
    const open = await cli("run", "--session", "ada", "--tools", toolsFile);
    expect(open.code).toBe(7);
    expect(open.err).toContain(
      "  moora settle ada call_1 run-again\n  moora settle ada call_1 worked --result ...\n" +
        "  moora settle ada call_1 failed --reason ...\n  moora settle ada call_1 unknown\n",
    );
    expect((await cli("show", "ada")).out).toContain(
      'Interrupted, outcome unknown: call_1 wire {"euros":9}\n',
    );
  });

  it("prints nothing else: what a session reports of an unseen question is for the authors of hosts", async () => {
    await interrupted();
    const open = new Child(["run", "--session", "ada", "--tools", toolsFile], place.path);
    open.process.stdin.end();
    expect(await open.ended()).toBe(7);
    expect(open.stderr).toContain("Waiting for a decision");
    expect(open.stderr).not.toMatch(/unhandled error|QuestionUnseen/);
  });

  it("of an approved call, without a question to a person, cannot be settled later: the message says why", async () => {
    await interrupted("report");
    await finished();
    expect(await cli("settle", "ada", "call_1", "worked")).toMatchObject({
      code: 5,
      err:
        "moora: Call call_1 already has its result: outcome unknown. " +
        'To be asked about interrupted calls, define the tool with onUnknown: "ask".\n',
    });
  });

  it("that was settled names the decision, not the approval before it", async () => {
    await interrupted();
    await cli("run", "--session", "ada", "--tools", toolsFile);
    await cli("settle", "ada", "call_1", "unknown", "--as", "bob");
    expect((await cli("settle", "ada", "call_1", "worked")).err).toContain(
      "was already decided by bob: unknown.",
    );
  });

  it.each([["approve"], ["reject"]])("is rejected by %s, which names the right commands", async (command) => {
    await interrupted();
    await cli("run", "--session", "ada", "--tools", toolsFile);
    for (const args of [["ada"], ["ada", "call_1"]]) {
      const refused = await cli(command, ...args);
      expect(refused.code).toBe(5);
      expect(refused.err).toContain(
        'Call call_1 wire {"euros":9} was interrupted, and waits for its outcome. Use one of\n  moora settle ada call_1 run-again\n',
      );
    }
  });

  it.each([
    [["run-again"], "to run again", "wired again"],
    [["worked", "--result", "receipt 77"], "reported as worked by ada: receipt 77", "receipt 77"],
    [["worked"], "reported as worked by ada", ""],
    [["failed", "--reason", "no money"], "reported as failed by ada: no money", "no money"],
    [["unknown"], "reported as unknown by ada", "unknown"],
  ])("is settled by settle %j", async (args, record, content) => {
    await interrupted();
    await cli("run", "--session", "ada", "--tools", toolsFile);
    expect((await cli("settle", "ada", "call_1", ...args)).out).toMatch(
      /^Settled: call_1 wire \{"euros":9\}\. It is record \d+\.\n$/,
    );
    await using provider = await FakeProvider.start(says("Fine."));
    const run = await cli("run", "--session", "ada", "--tools", toolsFile, ...provider.options);
    expect(run).toMatchObject({ code: 0, out: "Fine.\n" });
    expect(JSON.stringify(provider.bodies[0])).toContain(content);
    expect((await cli("log", "ada")).out).toContain(record);
  });

  it.each([
    [["wroked"], 'Unknown outcome "wroked". Did you mean "worked"?'],
    [["approved"], 'Unknown outcome "approved". Use one of run-again, worked, failed, unknown.'],
    [["failed", "--result", "x"], '--result cannot be used with "failed". It is for worked.'],
    [
      ["run-again", "--reason", "x"],
      '--reason cannot be used with "run-again". It is for failed and unknown.',
    ],
  ])("settle %j is refused", async (args, message) => {
    await interrupted();
    expect(await cli("settle", "ada", "call_1", ...args)).toMatchObject({
      code: 2,
      err: `moora: ${message}\n`,
    });
  });
});
