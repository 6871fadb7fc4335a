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

  it("goes on after a turn that failed", async () => {
    await using provider = await FakeProvider.start(
      refuses(401, { error: { message: "no" } }),
      says("Better."),
    );
    const host = new TestHost();
    expect(await host.run(["chat", ...provider.options], "one\ntwo\n")).toBe(0);
    expect(host.stdout.text).toBe("Better.\n");
    expect(host.stderr.text).toContain("local does not accept the key");
  });

  it("Ctrl-C ends the answer and keeps the chat; at the prompt it ends the chat", async () => {
    await using provider = await FakeProvider.start(hangs("I will "), says("Hello again."));
    const host = new TestHost();
    const code = host.run(["chat", ...provider.options]);
    host.stdin.write("one\n");
    await host.stdout.shows("I will ");
    host.interrupt();
    await host.stderr.shows("Cancelled.");
    // After the second word the chat waits for a line, and listens for itself.
    host.stdin.write("two\n/tools\n");
    await host.stderr.shows("calculator:");
    host.interrupt();
    expect(await code).toBe(130);
    expect(host.stdout.text).toBe("I will \nHello again.\n");
  });

  it("knows a few words besides messages", async () => {
    const host = new TestHost();
    expect(await host.run(["chat"], "/help\n/tools\n2+2\n/trace\n/constructor\n/exit\nnot read\n")).toBe(0);
    expect(host.stderr.text).toContain("/exit leaves");
    expect(host.stderr.text).toContain("read_file: Reads a text file");
    expect(host.stderr.text).toMatch(/Planning\s+LlmFinalAnswer\s+Done/);
    expect(host.stderr.text).toContain("There is no /constructor.");
    expect(host.stdout.text).toBe("According to calculator: 2+2 = 4.\n");
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

  it("takes its answers to questions from the same lines, in order", async () => {
    const host = new TestHost();
    await host.run(["chat", "--approve", "ask"], "list the files\ny\n1+1\n");
    expect(host.stdout.text).toContain("chat.test.ts");
    expect(host.stdout.text).toContain("1+1 = 2");
  });
});
