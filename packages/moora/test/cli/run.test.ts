import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Interrupts } from "../../src/cli/terminal/interrupts.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { calls, FakeProvider, hangs, refuses, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
  writeFileSync(place.at("notes.txt"), "The answer is 42.\n");
});
afterEach(() => place[Symbol.dispose]());
const host = (): TestHost => new TestHost({ cwd: place.path });

describe("moora run", () => {
  it("writes the answer to stdout and everything else to stderr", async () => {
    const at = host();
    expect(await at.run(["run", "What is 2 + 2?"])).toBe(0);
    expect(at.stdout.text).toBe("According to calculator: 2 + 2 = 4.\n");
    expect(at.stderr.lines.slice(1)).toEqual([
      '-> calculator {"expression":"2 + 2"}',
      "<- calculator 2 + 2 = 4",
    ]);
  });

  it("explains that the planner is not a model, and how to use one", async () => {
    const at = host();
    await at.run(["run", "hello"]);
    expect(at.stderr.text).toMatch(/not a language model.*OPENAI_API_KEY.*--model/s);
  });

  it("cancels where a guardrail asks a person, since nothing can resume a session without a log", async () => {
    const modules = join(import.meta.dirname, "../../../agent/src/index.ts");
    const testing = join(import.meta.dirname, "../../../llm/src/testing/index.ts");
    writeFileSync(
      place.at("agent.ts"),
      `import { defineAgent } from ${JSON.stringify(modules)};
import { MockLlmCaller } from ${JSON.stringify(testing)};
const money = { name: "money", input: (text) => (text.includes("wire") ? { ask: "Money." } : undefined) };
export const agent = defineAgent({ llm: new MockLlmCaller([]), guardrails: [money] });
`,
    );
    const at = host();
    expect(await at.run(["run", "wire 7", "--agent", place.at("agent.ts")])).toBe(130);
    expect(at.stderr.text).toContain("paused: money: Money.");
    expect(at.stderr.text).toContain("run it with --session");
  });

  it("joins its arguments, and reads a task from standard input", async () => {
    const words = host();
    expect(await words.run(["run", "read", "notes.txt"])).toBe(0);
    expect(words.stdout.text).toContain("> The answer is 42.");
    const piped = host();
    expect(await piped.run(["run", "-"], "read notes.txt\n")).toBe(0);
    expect(piped.stdout.text).toBe(words.stdout.text);
    const dashed = host();
    expect(await dashed.run(["run", "--", "-5 + 3"])).toBe(0);
    expect(dashed.stdout.text).toContain("-5 + 3 = -2");
  });

  it("streams the answer of a model, calls tools, and sends their results back", async () => {
    await using provider = await FakeProvider.start(
      calls(["read_file", { path: "notes.txt" }]),
      says("It is 42."),
    );
    const at = host();
    expect(await at.run(["run", "What is the answer?", ...provider.options])).toBe(0);
    expect(at.stdout.text).toBe("It is 42.\n");
    expect(at.stderr.lines).toEqual(['-> read_file {"path":"notes.txt"}', "<- read_file 2 lines"]);
    expect(JSON.stringify(provider.bodies[1])).toContain("The answer is 42.");
  });

  it("an answer without a line break is ended with one", async () => {
    await using provider = await FakeProvider.start(says("Once "), says("x"));
    const at = host();
    await at.run(["run", "x", ...provider.options]);
    expect(at.stdout.text).toBe("Once \n");
  });

  it("sends the model the system prompt, the task, and only the tools that are allowed", async () => {
    await using provider = await FakeProvider.start(says("ok"), says("ok"));
    await host().run(["run", "x", "--system", "Be brief.", ...provider.options]);
    await host().run(["run", "x", "--allow-fetch", ...provider.options]);
    const [plain, fetching] = provider.bodies.map((body) => JSON.stringify(body));
    expect(plain).toContain("Be brief.");
    expect(plain).not.toContain("fetch_url");
    expect(fetching).toContain("fetch_url");
    for (const name of ["calculator", "current_time", "list_files", "read_file", "search_files"])
      expect(plain).toContain(name);
  });

  it("reads only files below --root", async () => {
    const at = new TestHost();
    expect(await at.run(["run", "read notes.txt", "--root", place.path])).toBe(0);
    expect(at.stdout.text).toContain("The answer is 42.");
    const outside = host();
    await outside.run(["run", 'read "../../etc/passwd"']);
    expect(outside.stdout.text).toContain("leads out of the root folder");
  });

  it("prints the trace at the end when asked to", async () => {
    const at = host();
    await at.run(["run", "2+2", "--trace"]);
    expect(at.stderr.text).toMatch(/loop\s+step\s+state\s+event\s+to/);
    expect(at.stderr.text).toMatch(/Planning\s+LlmFinalAnswer\s+Done/);
  });

  it("prints log entries when asked to, and none without", async () => {
    const options = ["--session", "ada", "--log", place.at("log")];
    const at = host();
    await at.run(["run", "2+2", "--verbose", ...options]);
    expect(at.stderr.text).toMatch(/^\[info\] session-opened, session ada: .*"access":"run"/m);
    const quiet = host();
    await quiet.run(["run", "2+2", ...options]);
    expect(quiet.stderr.text).not.toContain("session-opened");
  });

  it("ends with 1 when the agent fails, and enforces its limits", async () => {
    await using provider = await FakeProvider.start(calls(["current_time", {}]), calls(["current_time", {}]));
    const at = host();
    expect(await at.run(["run", "x", "--max-steps", "2", ...provider.options])).toBe(1);
    expect(at.stderr.lines.at(-1)).toBe(
      "The agent used all its steps without an answer. Allow more with --max-steps.",
    );
    expect(provider.bodies).toHaveLength(2);
  });

  it("ends with 130 on Ctrl-C, and keeps what was written on the terminal", async () => {
    await using provider = await FakeProvider.start(hangs("I was about to "));
    const at = host();
    at.stdout.isTTY = true;
    const code = at.run(["run", "x", ...provider.options]);
    await at.stdout.shows("I was about to ");
    at.interrupt();
    expect(await code).toBe(130);
    expect(at.stdout.text).toBe("I was about to \n");
    expect(at.stderr.lines).toEqual(["Canceled."]);
  });
});

describe("Ctrl-C", () => {
  it("while the task is read ends the command", async () => {
    const at = host();
    const code = at.start(["run", "-"]);
    at.stdin.write("half a ta");
    at.interrupt();
    expect(await code).toBe(130);
    expect(at.stdout.text).toBe("");
  });

  it("between two pieces of work is delivered to the next one", async () => {
    const at = host();
    using interrupts = new Interrupts(at);
    at.interrupt();
    const heard: string[] = [];
    await interrupts.during(
      () => void heard.push("first"),
      () => Promise.resolve(),
    );
    await interrupts.during(
      () => void heard.push("second"),
      () => Promise.resolve(),
    );
    expect(heard).toEqual(["first"]);
  });
});

describe("moora run --json", () => {
  it("prints one object per line: every event, and the result", async () => {
    const at = host();
    expect(await at.run(["run", "--json", "--trace", "What is 2 + 2?"])).toBe(0);
    const rows = at.stdout.lines.map((line) => JSON.parse(line));
    const types = rows.map(({ type }) => type);
    for (const type of [
      "StateStarted",
      "LlmToolCall",
      "ToolCallStarted",
      "ToolCallFinished",
      "LlmToken",
      "FinalAnswer",
    ])
      expect(types).toContain(type);
    // Pieces of arguments could be parts of secrets, which are redacted as a whole.
    for (const type of ["LlmToolCallDelta", "LlmPartEnded"]) expect(types).not.toContain(type);
    expect(rows.at(-1)).toMatchObject({
      type: "Result",
      ok: true,
      answer: "According to calculator: 2 + 2 = 4.",
      steps: 2,
      usage: { inputTokens: 0 },
    });
    expect(rows.at(-1).trace.at(-1)).toMatchObject({ to: "Done" });
    expect(types.filter((type) => type === "Result")).toHaveLength(1);
  });

  it("reports a failure with its kind and an explanation", async () => {
    await using provider = await FakeProvider.start(
      refuses(401, { error: { message: "Incorrect API key", code: "invalid_api_key" } }),
    );
    const at = host();
    expect(await at.run(["run", "x", "--json", ...provider.options])).toBe(1);
    const rows = at.stdout.lines.map((line) => JSON.parse(line));
    expect(rows.at(-2)).toMatchObject({ type: "Error", error: { kind: "LlmError", reason: "auth" } });
    expect(rows.at(-1)).toMatchObject({
      type: "Result",
      ok: false,
      error: {
        kind: "LlmError",
        reason: "auth",
        explanation: expect.stringContaining("rejected the API key"),
      },
    });
    expect(at.stdout.text).not.toContain("transcript");
  });
});
