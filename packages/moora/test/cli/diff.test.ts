import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { diffLines } from "../../src/cli/session/comparison.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

/** A command without a terminal. */
async function cli(...args: readonly string[]) {
  const host = new TestHost({ cwd: place.path });
  return { code: await host.run(args), out: host.stdout.text, err: host.stderr.text };
}

/** One run of the same task; `answer` is what the model says at the end. */
async function run(session: string, answer: string): Promise<void> {
  await using provider = await FakeProvider.start(calls(["calculator", { expression: "6*7" }]), says(answer));
  const { code } = await cli("run", "what is 6*7?", "--session", session, ...provider.options);
  expect(code).toBe(0);
}

describe("diff", () => {
  it("shows messages, calls and answers, and counts equal lines", async () => {
    await run("ada", "It is 42.");
    await run("bob", "It is forty-two.");
    const { code, out } = await cli("diff", "ada", "bob");
    expect(code).toBe(1);
    expect(out).toMatch(
      /\nMessages, calls and answers\n {2}\(3 entries are the same\)\n {2}ada {2}assistant: It is 42\.\n {2}bob {2}assistant: It is forty-two\.\n/,
    );
    expect(out).toMatch(/The states differ in \d+ fields\. To show them: --all\n$/);
    expect(out).not.toContain("reActContext");
    const all = await cli("diff", "ada", "bob", "--all");
    expect(all.out).toContain("All differences of the states\n");
    expect(all.out).toContain('  messages[1].content\n    ada: "It is 42."\n    bob: "It is forty-two."\n');
  });

  it("ends with 0 if only other fields differ, unless --all is given", async () => {
    await cli("run", "what is 2+2?", "--session", "ada");
    await cli("run", "what is 2+2?", "--session", "bob", "--max-steps", "7");
    const { code, out } = await cli("diff", "ada", "bob");
    expect(out).toContain("Messages, calls and answers are the same.\n");
    expect(code).toBe(0);
    const all = await cli("diff", "ada", "bob", "--all");
    expect(all.out).toContain("config.limits.maxSteps");
    expect(all.code).toBe(1);
  });
});

describe("rerun", () => {
  it("shows the answers of another model, and other fields with --all", async () => {
    await run("ada", "It is 42.");
    await using provider = await FakeProvider.start(
      calls(["calculator", { expression: "6*7" }]),
      says("42!"),
    );
    const { code, out } = await cli("rerun", "ada", ...provider.options);
    expect(code).toBe(0);
    expect(out).toContain("recorded  It is 42.\nrerun     42!\n");
    expect(out).toContain(
      "  (3 entries are the same)\n  recorded  assistant: It is 42.\n  rerun     assistant: 42!\n",
    );
    expect(out).not.toContain("raw");
    await using same = await FakeProvider.start(calls(["calculator", { expression: "6*7" }]), says("42!"));
    expect((await cli("rerun", "ada", "--all", ...same.options)).out).toContain(
      "All differences of the states",
    );
  });
});

describe("the differences of two texts", () => {
  const diff = (a: string, b: string) =>
    diffLines(a.split(""), b.split("")).map((found) =>
      found.side === "both" ? String(found.count) : `${found.side}${found.line}`,
    );

  it.each([
    ["", "", []],
    ["abc", "abc", ["3"]],
    ["abc", "", ["aa", "ab", "ac"]],
    ["", "xy", ["bx", "by"]],
    ["abcd", "axcd", ["1", "ab", "bx", "2"]],
    ["abc", "abcd", ["3", "bd"]],
    ["xabc", "abcy", ["ax", "3", "by"]],
    ["aXbYc", "abc", ["1", "aX", "1", "aY", "1"]],
  ])("%j and %j", (a, b, differences) => {
    expect(diff(a, b)).toEqual(differences);
  });

  it("are not aligned for two long texts without a common line", () => {
    const [a, b] = ["a", "b"].map((letter) => Array.from({ length: 5_000 }, (_, at) => `${letter}${at}`));
    expect(diffLines(a ?? [], b ?? [])).toHaveLength(10_000);
  });
});
