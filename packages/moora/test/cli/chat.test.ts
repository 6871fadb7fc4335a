import { describe, expect, it } from "vitest";
import { FakeProvider, hangs, refuses, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";

describe("moora chat", () => {
  it("answers a message a line, in one conversation, until the input ends", async () => {
    await using provider = await FakeProvider.start(says("First."), says("Second."));
    const host = new TestHost();
    expect(await host.run(["chat", ...provider.options], "one\n\ntwo\n")).toBe(0);
    expect(host.stdout.text).toBe("First.\nSecond.\n");
    expect(JSON.stringify(provider.bodies[1])).toMatch(/one.*First\..*two/);
    expect(host.stderr.text).toBe("");
  });

  it("continues after a turn that failed", async () => {
    await using provider = await FakeProvider.start(
      refuses(401, { error: { message: "no" } }),
      says("Better."),
    );
    const host = new TestHost();
    expect(await host.run(["chat", ...provider.options], "one\ntwo\n")).toBe(0);
    expect(host.stdout.text).toBe("Better.\n");
    expect(host.stderr.text).toContain("local rejected the API key");
  });

  it("Ctrl-C ends the answer and keeps the chat; at the prompt it ends the chat", async () => {
    await using provider = await FakeProvider.start(hangs("I will "), says("Hello again."));
    const host = new TestHost();
    host.stdout.isTTY = true;
    const code = host.start(["chat", ...provider.options]);
    host.stdin.write("one\n");
    await host.stdout.shows("I will ");
    host.interrupt();
    await host.stderr.shows("Canceled.");
    // After the second word the chat waits for a line, and listens for itself.
    host.stdin.write("two\n/tools\n");
    await host.stderr.shows("calculator:");
    host.interrupt();
    expect(await code).toBe(130);
    expect(host.stdout.text).toBe("I will \nHello again.\n");
  });

  it("knows commands that begin with a slash, and sends none of them to the model", async () => {
    const host = new TestHost();
    expect(await host.run(["chat"], "/help\n/tools\n2+2\n/trace\n/exit\nnot read\n")).toBe(0);
    expect(host.stderr.text).toContain("/exit    Leave the chat.");
    expect(host.stderr.text).toContain("read_file: Reads a text file");
    expect(host.stderr.text).toMatch(/Planning\s+LlmFinalAnswer\s+Done/);
    expect(host.stdout.text).toBe("According to calculator: 2+2 = 4.\n");
  });

  it.each([
    ["/exit now", "/exit takes no arguments."],
    ["/exti", 'Unknown command "/exti". Did you mean "/exit"?'],
    ["/etc/passwd", 'Unknown command "/etc/passwd". Type /help for the commands.'],
    ["/constructor", 'Unknown command "/constructor".'],
    ["/", 'Unknown command "/".'],
  ])("%s is refused and not sent", async (line, message) => {
    await using provider = await FakeProvider.start(says("Hello."));
    const host = new TestHost();
    expect(await host.run(["chat", ...provider.options], `${line}\n`)).toBe(0);
    expect(host.stderr.text).toContain(message);
    expect(provider.bodies).toEqual([]);
  });

  it("sends a message that begins with // with one slash", async () => {
    await using provider = await FakeProvider.start(says("Hello."));
    const host = new TestHost();
    expect(await host.run(["chat", ...provider.options], "//etc/passwd\n")).toBe(0);
    expect(JSON.stringify(provider.bodies[0])).toContain('"/etc/passwd"');
  });

  it("prints a result a turn in JSON", async () => {
    const host = new TestHost();
    await host.run(["chat", "--json"], "1+1\n2+2\n");
    const results = host.stdout.lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "Result");
    expect(results).toMatchObject([
      { answer: expect.stringContaining("= 2") },
      { answer: expect.stringContaining("= 4") },
    ]);
  });

  it("with --approve-from-stdin takes decisions from the same lines, in order", async () => {
    const host = new TestHost();
    await host.run(["chat", "--approve", "ask", "--approve-from-stdin"], "list the files\ny\n1+1\ny\n");
    expect(host.stdout.text).toContain("chat.test.ts");
    expect(host.stdout.text).toContain("1+1 = 2");
  });
});
