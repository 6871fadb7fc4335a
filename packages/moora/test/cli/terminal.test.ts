import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { escapeControlCharacters, Screen, type InputLine } from "../../src/cli/terminal/screen.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { calls, FakeProvider, hangs, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";
import { terminalLines } from "./virtual-terminal.ts";

describe("the status line", () => {
  const screenOf = (isTTY: boolean, env: Record<string, string> = {}) => {
    const host = new TestHost({ isTTY, env });
    const clock = new TestClock();
    host.clock = clock;
    return { host, clock, screen: new Screen(host) };
  };

  it("turns while it waits, and is removed before anything else is written", () => {
    const { host, clock, screen } = screenOf(true);
    screen.showStatus("thinking");
    clock.advance(120);
    clock.advance(120);
    expect(host.stderr.text).toBe("\r\u001b[K| thinking\r\u001b[K/ thinking\r\u001b[K- thinking");
    screen.answer("Hello");
    clock.advance(1_000);
    expect(host.stderr.text.endsWith("- thinking\r\u001b[K")).toBe(true);
    expect(host.stdout.text).toBe("Hello");
  });

  it("is not shown while a user types there", async () => {
    const { host, clock, screen } = screenOf(true);
    screen.showStatus("thinking");
    const typed = Promise.withResolvers<string>();
    const noInput: InputLine = { clear: () => undefined, redraw: () => undefined };
    const held = screen.withInput(noInput, () => typed.promise);
    const before = host.stderr.text;
    screen.showStatus("read_file");
    clock.advance(1_000);
    expect(host.stderr.text).toBe(before);
    typed.resolve("y");
    expect(await held).toBe("y");
    screen.showStatus("read_file");
    expect(host.stderr.text).not.toBe(before);
  });

  it("counts the seconds, also when the model reports again that it thinks", () => {
    const { host, clock, screen } = screenOf(true);
    screen.showStatus("thinking");
    clock.advance(1_900);
    expect(terminalLines(host.stderr.text).at(-1)).toMatch(/thinking$/);
    screen.showStatus("thinking");
    clock.advance(1_200);
    expect(terminalLines(host.stderr.text).at(-1)).toMatch(/thinking 3 s$/);
    screen.showStatus("read_file");
    clock.advance(200);
    expect(terminalLines(host.stderr.text).at(-1)).toMatch(/read_file$/);
  });

  it("fits into a narrow terminal", () => {
    const { host, clock, screen } = screenOf(true);
    Object.assign(host.stderr, { columns: 20 });
    screen.showStatus("a tool with a very long name");
    clock.advance(100_080);
    const [line = ""] = terminalLines(host.stderr.text);
    expect(line).toMatch(/ 100 s$/);
    expect(line.length).toBeLessThan(20);
  });

  it("shows no secret", () => {
    const { host } = screenOf(true);
    const screen = new Screen(host, ["sk-canary"]);
    screen.showStatus("reading sk-canary");
    screen.clearStatus();
    expect(host.stderr.text).toContain("reading [secret]");
  });

  it("is not shown without a terminal", () => {
    const { host, clock, screen } = screenOf(false);
    screen.showStatus("thinking");
    clock.advance(1_000);
    screen.dim("-> read_file");
    expect(host.stderr.text).toBe("-> read_file\n");
  });

  it("less important lines are dim if colors are enabled", () => {
    const colored = screenOf(true);
    colored.screen.dim("x");
    expect(colored.host.stderr.text).toBe("\u001b[2mx\u001b[0m\n");
    const plain = screenOf(true, { NO_COLOR: "1" });
    plain.screen.dim("x");
    expect(plain.host.stderr.text).toBe("x\n");
  });
});

describe("on a terminal", () => {
  const terminal = (): TestHost => new TestHost({ isTTY: true, env: { NO_COLOR: "1", TERM: "xterm" } });

  it("a chat greets, prompts, reads lines that can be edited, and ends with Ctrl-D", async () => {
    await using provider = await FakeProvider.start(says("Hello."));
    const host = terminal();
    const code = host.run(["chat", ...provider.options]);
    await host.stderr.shows("> ");
    expect(host.stderr.text).toContain("fake at local.");
    host.stdin.write("helxx\u007f\u007flo\r");
    await host.stdout.shows("Hello.\n");
    expect(JSON.stringify(provider.bodies[0])).toContain('"hello"');
    host.stdin.write("\u0004");
    expect(await code).toBe(0);
  });

  it("finds messages with the arrow keys, but no replies to questions", async () => {
    await using provider = await FakeProvider.start(calls(["list_files", {}]), says("One."), says("Two."));
    const host = terminal();
    const code = host.run(["chat", "--approve", "ask", ...provider.options]);
    await host.stderr.shows("> ");
    host.stdin.write("first\r");
    await host.stderr.shows("Allow it?");
    host.stdin.write("y\r");
    await host.stdout.shows("One.\n");
    host.stdin.write("\u001b[A\r");
    await host.stdout.shows("Two.\n");
    expect(JSON.stringify(provider.bodies[2]).match(/"first"/g)).toHaveLength(2);
    host.stdin.write("\u0004");
    expect(await code).toBe(0);
  });

  it("lines that are pasted together are sent one after the other", async () => {
    await using provider = await FakeProvider.start(says("One."), says("Two."));
    const host = terminal();
    const code = host.run(["chat", ...provider.options]);
    await host.stderr.shows("> ");
    host.stdin.write("first\rsecond\r/exit\r");
    expect(await code).toBe(0);
    expect(host.stdout.text).toBe("One.\nTwo.\n");
  });

  it("a message from another process is shown immediately, and an incomplete line stays", async () => {
    using place = new TemporaryFolder();
    await using provider = await FakeProvider.start(says("Hello, Bob."), says("Hello, Ada."));
    const host = new TestHost({ isTTY: true, env: { NO_COLOR: "1" }, cwd: place.path });
    const code = host.run(["chat", "--session", "ada", ...provider.options]);
    await host.stderr.shows("Type /help");
    await host.stderr.shows("> ");
    host.stdin.write("I am A");
    await host.stderr.shows("I am A");
    expect(await new TestHost({ cwd: place.path }).run(["send", "ada", "I am Bob"])).toBe(0);
    await host.stdout.shows("Hello, Bob.\n");
    host.stdin.write("da\r");
    await host.stdout.shows("Hello, Ada.\n");
    expect(JSON.stringify(provider.bodies[1])).toContain("I am Ada");
    host.stdin.write("\u0004");
    expect(await code).toBe(0);
  });

  it("a pause while nothing is in progress does not end the line, and is shown with the next loop", async () => {
    using place = new TemporaryFolder();
    await using provider = await FakeProvider.start(says("Hello."), says("Hello, Ada."));
    const host = new TestHost({ isTTY: true, env: { NO_COLOR: "1" }, cwd: place.path });
    const code = host.run(["chat", "--session", "ada", ...provider.options]);
    await host.stderr.shows("> ");
    host.stdin.write("first\r");
    await host.stdout.shows("Hello.\n");
    const other = async (...args: readonly string[]) => await new TestHost({ cwd: place.path }).run(args);
    expect(await other("pause", "ada", "--reason", "Not now.")).toBe(0);
    expect(await other("resume", "ada")).toBe(0);
    host.stdin.write("I am Ada\r");
    await host.stdout.shows("Hello, Ada.\n");
    expect(host.stderr.text).toContain("paused: Not now.\nresumed\n");
    expect(host.stdout.text).toBe("Hello.\nHello, Ada.\n");
    host.stdin.write("\u0004");
    expect(await code).toBe(0);
  });

  it("Ctrl-C at the prompt leaves", async () => {
    const host = terminal();
    const code = host.run(["chat"]);
    await host.stderr.shows("> ");
    host.stdin.write("half a mess\u0003");
    expect(await code).toBe(130);
  });

  it("Ctrl-C at a question ends the loop", async () => {
    const host = terminal();
    const code = host.run(["run", "list the files", "--approve", "ask"]);
    await host.stderr.shows("Allow it?");
    host.stdin.write("\u0003");
    expect(await code).toBe(130);
    expect(host.stderr.text).toContain("Canceled.");
  });

  it("a question that a signal ends does not keep the chat", async () => {
    const host = terminal();
    const code = host.run(["chat", "--approve", "ask"]);
    await host.stderr.shows("> ");
    host.stdin.write("list the files\r");
    await host.stderr.shows("Allow it?");
    host.interrupt();
    await host.stderr.shows("Canceled.");
    host.stdin.write("/exit\r");
    expect(await code).toBe(0);
  });

  it("a chat that is opened again shows the last exchanges, and how many messages came before", async () => {
    using place = new TemporaryFolder();
    const answers = ["One.", "Two.", "Three.", "Four."].map(says);
    await using provider = await FakeProvider.start(...answers);
    const chat = ["chat", "--session", "ada", ...provider.options];
    const first = new TestHost({ cwd: place.path });
    expect(await first.run(chat, "first\nsecond\nthird\nfourth\n")).toBe(0);
    expect(first.stderr.text).not.toContain("> first");
    const host = new TestHost({ isTTY: true, env: { NO_COLOR: "1" }, cwd: place.path });
    const code = host.run(chat);
    await host.stderr.showsPrompt("> ");
    expect(terminalLines(host.stderr.text).slice(1)).toEqual([
      "2 earlier messages: moora show ada",
      "> second",
      "Two.",
      "> third",
      "Three.",
      "> fourth",
      "Four.",
      "> ",
    ]);
    host.stdin.write("\u0004");
    expect(await code).toBe(0);
  });

  it("shows that it waits for the model", async () => {
    await using provider = await FakeProvider.start(hangs("Well"));
    const host = terminal();
    const code = host.run(["run", "x", ...provider.options]);
    await host.stderr.shows("| thinking");
    await host.stdout.shows("Well");
    host.interrupt();
    expect(await code).toBe(130);
  });
});

describe("untrusted text", () => {
  it.each([
    ["\u001b]0;title\u0007", "\\u001b]0;title\\u0007"],
    ["a\rb", "a\\u000db"],
    ["a\r\nb\tc\n", "a\nb\tc\n"],
    ["\u009b31m", "\\u009b31m"],
    ["\u202egnp.exe", "\\u202egnp.exe"],
    ["pay\u200bpal\u2060", "pay\\u200bpal\\u2060"],
    ["h\u00e9llo \u{1f600} \u4e2d\u6587", "h\u00e9llo \u{1f600} \u4e2d\u6587"],
  ])("%j is shown as %j", (text, shown) => {
    expect(escapeControlCharacters(text)).toBe(shown);
  });
});
