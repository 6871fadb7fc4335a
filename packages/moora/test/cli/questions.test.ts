import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { calls, FakeProvider, hangs, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";
import { terminalLines } from "./virtual-terminal.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

const tools = ["--tools", join(import.meta.dirname, "asking-tools.ts")];

/** A host with a person at its terminal. */
const atTerminal = (env: Record<string, string> = {}): TestHost =>
  new TestHost({ isTTY: true, env: { NO_COLOR: "1", TERM: "xterm", ...env }, cwd: place.path });

/** Types a line at a prompt, once it is shown. */
async function reply(host: TestHost, prompt: string, line: string): Promise<void> {
  await host.stderr.showsPrompt(prompt);
  host.stdin.write(`${line}\r`);
  // The line is read in a turn of the event loop of its own.
  await new Promise(setImmediate);
}

/** What the model was sent last, as text. */
const lastBody = ({ bodies }: FakeProvider): string => JSON.stringify(bodies.at(-1));

const decided = "Allow it? [y]es, [n]o, [a]lways, [e]dit: ";

describe("a question of the agent's own", () => {
  it("is shown as a question, and the line that is typed is its answer", async () => {
    await using provider = await FakeProvider.start(
      calls(["ask_human", { question: "Which color?" }]),
      says("Blue it is."),
    );
    const host = atTerminal();
    const code = host.run(["run", "paint it", ...tools, ...provider.options]);
    await reply(host, "Your answer: ", "y");
    expect(await code).toBe(0);
    expect(host.stderr.text).toContain("The agent asks: Which color?\n");
    expect(host.stderr.text).not.toContain("Allow it?");
    expect(host.stderr.text).not.toContain("wants to call");
    expect(lastBody(provider)).toContain('"content":"y"');
  });

  it("is asked again after an empty line, and after an answer that does not fit its schema", async () => {
    await using provider = await FakeProvider.start(
      calls(["ask_number", { question: "How many?" }]),
      says("Fine."),
    );
    const host = atTerminal();
    const code = host.run(["run", "count", ...tools, ...provider.options]);
    await reply(host, "Your answer: ", "");
    await host.stderr.shows("Type an answer");
    await reply(host, "Your answer: ", "many");
    await host.stderr.shows("The decision is not valid");
    await reply(host, "Your answer: ", "7");
    expect(await code).toBe(0);
    expect(lastBody(provider)).toContain('"content":"7"');
  });

  it("without a field `question` shows all of its arguments", async () => {
    await using provider = await FakeProvider.start(calls(["ask_form", { fields: ["name"] }]), says("Fine."));
    const host = atTerminal();
    const code = host.run(["run", "ask", ...tools, ...provider.options]);
    await reply(host, "Your answer: ", "Ada");
    expect(await code).toBe(0);
    expect(host.stderr.text).toContain('The agent asks: {"fields":["name"]}');
  });

  it("has its text in the lines of JSON", async () => {
    await using provider = await FakeProvider.start(
      calls(["ask_human", { question: "Which color?" }]),
      says("Blue."),
    );
    const host = new TestHost({ cwd: place.path });
    const args = ["run", "paint it", "--json", "--approve-from-stdin", ...tools, ...provider.options];
    expect(await host.run(args, "blue\n")).toBe(0);
    const rows = host.stdout.lines.map((line) => JSON.parse(line));
    expect(rows.find(({ type }) => type === "ApprovalRequested")).toMatchObject({
      about: "answer",
      question: "Which color?",
    });
  });

  it("is shown by log and show, and answered by the command that they name", async () => {
    await using provider = await FakeProvider.start(
      calls(["ask_human", { question: "Which color?" }]),
      says("Blue."),
    );
    const cli = async (...args: readonly string[]) => {
      const host = new TestHost({ cwd: place.path });
      return { code: await host.run(args), out: host.stdout.text, err: host.stderr.text };
    };
    const run = ["run", "--session", "ada", ...tools, ...provider.options];
    const open = await cli(...run, "paint it");
    expect(open.code).toBe(7);
    expect(open.err).toContain("The agent asks: Which color?\n  moora answer ada call_1 ...\n");
    expect((await cli("show", "ada")).out).toContain(
      "The agent asks: Which color?\n  moora answer ada call_1 ...",
    );
    expect((await cli("show", "ada", "--json")).out).toContain('"question":"Which color?"');
    expect((await cli("log", "ada")).out).toContain('model calls call_1 ask_human "Which color?"');
    expect((await cli("answer", "ada", "call_1", "blue")).out).toContain(
      'Answered: call_1 ask_human "Which color?".',
    );
    expect((await cli("log", "ada")).out).toContain("call_1 ask_human answered by ada: blue");
    expect((await cli(...run)).out).toBe("Blue.\n");
  });
});

describe("a question before a tool runs", () => {
  const pays = calls(["pay", { euros: 5, to: "Bob" }]);

  it("after n asks for the reason, which may be empty", async () => {
    await using provider = await FakeProvider.start(pays, pays, says("Fine."));
    const host = atTerminal();
    const code = host.run(["run", "pay", ...tools, ...provider.options]);
    await reply(host, decided, "n");
    await reply(host, "Why? (optional) ", "too much");
    await reply(host, decided, "n");
    await reply(host, "Why? (optional) ", "");
    expect(await code).toBe(0);
    expect(JSON.stringify(provider.bodies[1])).toContain("A human rejected this call: too much");
    expect(lastBody(provider)).toContain('A human rejected this call."');
  });

  it("after e offers the present arguments for editing", async () => {
    await using provider = await FakeProvider.start(pays, says("Fine."));
    const host = atTerminal();
    const code = host.run(["run", "pay", ...tools, ...provider.options]);
    await reply(host, decided, "e");
    await host.stderr.showsPrompt('Arguments: {"euros":5,"to":"Bob"}');
    host.stdin.write("\u007f".repeat(5) + 'Eve"}\r');
    expect(await code).toBe(0);
    expect(host.stderr.text).toContain('-> pay {"euros":5,"to":"Eve"}');
  });

  it("does not show a secret in the arguments that are edited", async () => {
    await using provider = await FakeProvider.start(calls(["pay", { to: "sk-canary-77" }]), says("Fine."));
    const host = atTerminal({ OPENAI_API_KEY: "sk-canary-77" });
    const code = host.run(["run", "pay", ...tools, ...provider.options]);
    await reply(host, decided, "e");
    await reply(host, "Arguments: ", '{"to":"Bob"}');
    expect(await code).toBe(0);
    expect(host.stderr.text).not.toContain("sk-canary-77");
    expect(host.stderr.text).toContain('-> pay {"to":"Bob"}');
  });

  it("is shown again below other output, with the text typed so far", async () => {
    await using provider = await FakeProvider.start(
      calls(["pay", { euros: 5 }], ["quick", {}]),
      says("Fine."),
    );
    const host = atTerminal();
    const code = host.run(["run", "pay", ...tools, ...provider.options]);
    await host.stderr.shows("<- quick quickly done");
    await host.stderr.showsPrompt(decided);
    host.stdin.write("n no");
    await host.stderr.showsPrompt(`${decided}n no`);
    const screen = terminalLines(host.stderr.text);
    expect(screen.at(-1)).toMatch(/^Allow it\? .*: n no$/);
    expect(screen.filter((line) => line.startsWith("Allow it?"))).toHaveLength(1);
    expect(screen).toContain("<- quick quickly done");
    host.stdin.write("\r");
    expect(await code).toBe(0);
  });

  it("does not treat text typed before it appeared as a decision", async () => {
    await using provider = await FakeProvider.start(pays, says("Fine."));
    const host = atTerminal();
    const code = host.run(["run", "pay", ...tools, ...provider.options]);
    host.stdin.write("y\ry\r");
    await reply(host, decided, "n no");
    expect(await code).toBe(0);
    expect(host.stderr.text).not.toContain("-> pay");
    expect(lastBody(provider)).toContain("A human rejected this call: no");
  });

  it("does not treat a line that was being typed as a decision", async () => {
    await using provider = await FakeProvider.start(says("Hello."), pays, says("Fine."), says("Also fine."));
    const host = atTerminal();
    const code = host.run(["chat", ...tools, ...provider.options]);
    await reply(host, "> ", "hello");
    await host.stdout.shows("Hello.\n");
    await host.stderr.showsPrompt("> ");
    // Typed at once: the second line, and the beginning of a third, come before the question is shown.
    host.stdin.write("pay\ryes");
    await host.stderr.showsPrompt(`${decided}yes`);
    host.stdin.write(", please\r");
    await reply(host, decided, "n no");
    await host.stdout.shows("Also fine.\n");
    expect(lastBody(provider)).toContain("yes, please");
    expect(lastBody(provider)).toContain("A human rejected this call: no");
    host.stdin.write("/exit\r");
    expect(await code).toBe(0);
  });
});

describe("text typed while an answer streams", () => {
  it("is not shown in it, but in the next line after Ctrl-C", async () => {
    await using provider = await FakeProvider.start(hangs("I will "), says("Hello again."));
    const host = atTerminal();
    const code = host.run(["chat", ...provider.options]);
    await reply(host, "> ", "one");
    await host.stdout.shows("I will ");
    host.stdin.write("and t");
    host.stdin.write("wo");
    host.stdin.write("\u0003");
    await host.stderr.shows("Canceled.");
    await host.stderr.showsPrompt("> and two");
    expect(host.stderr.text.split("Canceled.")[0]).not.toContain("two");
    host.stdin.write("\r");
    await host.stdout.shows("Hello again.\n");
    expect(lastBody(provider)).toContain("and two");
    host.stdin.write("\u0004");
    expect(await code).toBe(0);
  });

  it("is sent next if the line was completed", async () => {
    await using provider = await FakeProvider.start(hangs("I will "), says("Hello again."));
    const host = atTerminal();
    const code = host.run(["chat", ...provider.options]);
    await reply(host, "> ", "one");
    await host.stdout.shows("I will ");
    host.stdin.write("two\r");
    host.stdin.write("\u0003");
    await host.stdout.shows("Hello again.\n");
    expect(host.stderr.text).toContain("> two\n");
    host.stdin.write("\u0004");
    expect(await code).toBe(0);
  });

  it("ends the chat after the answer when it is Ctrl-D", async () => {
    await using provider = await FakeProvider.start(hangs("I will "));
    const host = atTerminal();
    const code = host.run(["chat", ...provider.options]);
    await reply(host, "> ", "one");
    await host.stdout.shows("I will ");
    host.stdin.write("\u0004");
    host.interrupt();
    expect(await code).toBe(0);
  });
});
