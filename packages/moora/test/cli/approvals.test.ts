import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseCommandLine } from "../../src/cli/parse-command-line.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
  for (const name of ["a.txt", "b.txt"]) writeFileSync(place.at(name), `text of ${name}\n`);
});
afterEach(() => place[Symbol.dispose]());

/** Asks for a.txt and b.txt at once, with these decisions on standard input. */
async function asked(input: string, ...more: readonly string[]): Promise<TestHost> {
  const host = new TestHost({ cwd: place.path });
  const args = ["run", "read a.txt and read b.txt", "--approve", "ask", "--approve-from-stdin", ...more];
  // Where the input ends before a decision, the call is rejected, and the command says so with its code.
  expect(await host.run(args, input)).toBe(input === "" ? 8 : 0);
  return host;
}

describe("questions before a tool runs, decided by lines of standard input", () => {
  it("show the whole call, one after the other, and yes runs it", async () => {
    const host = await asked("y\nyes\n");
    expect(host.stderr.text).toContain('The agent wants to call read_file with\n{\n  "path": "a.txt"\n}');
    expect(host.stderr.text.indexOf('"path": "a.txt"')).toBeLessThan(
      host.stderr.text.indexOf('"path": "b.txt"'),
    );
    expect(host.stdout.text).toContain("text of a.txt");
    expect(host.stdout.text).toContain("text of b.txt");
  });

  it("no rejects, and the reason goes to the model", async () => {
    const host = await asked("n not this one\ny\n");
    expect(host.stdout.text).not.toContain("text of a.txt");
    expect(host.stdout.text).toContain("not this one");
    expect(host.stdout.text).toContain("text of b.txt");
  });

  it("always runs this one and all that follow of the same tool", async () => {
    const host = await asked("a\n");
    expect(host.stdout.text).toContain("text of a.txt");
    expect(host.stdout.text).toContain("text of b.txt");
  });

  it("edit runs it with other arguments", async () => {
    const host = await asked('e {"path": "b.txt"}\nn\n');
    expect(host.stdout.text).toContain("text of b.txt");
    expect(host.stderr.text).toContain('-> read_file {"path":"b.txt"}');
    expect(host.stderr.text).not.toContain('-> read_file {"path":"a.txt"}');
  });

  it("anything else, and arguments that do not fit, are asked for again", async () => {
    const host = await asked('maybe\n\ne nonsense\ne {"path": 1}\ne {"other": "x"}\ny\ny\n');
    expect(host.stderr.text.match(/Type y, n and a reason, a, or e/g)).toHaveLength(2);
    expect(host.stderr.text).toContain("The arguments of read_file must be JSON, in one line.");
    expect(host.stderr.text.match(/The decision is not valid:/g)).toHaveLength(2);
    expect(host.stdout.text).toContain("text of a.txt");
  });

  it("at the end of the input nothing runs, and nothing hangs", async () => {
    const host = await asked("");
    expect(host.stderr.text).toContain("No terminal to ask on: the call of read_file is rejected.");
    expect(host.stdout.text).not.toContain("text of");
    expect(host.stderr.text).not.toContain("->");
  });

  it("in JSON the question is an event, and a line is its answer", async () => {
    const host = await asked("y\nn\n", "--json");
    const rows = host.stdout.lines.map((line) => JSON.parse(line));
    const questions = rows.filter(({ type }) => type === "ApprovalRequested");
    expect(questions).toMatchObject([
      { about: "approval", name: "read_file", parameters: { path: "a.txt" } },
      { about: "approval", name: "read_file", parameters: { path: "b.txt" } },
    ]);
    expect(rows.at(-1)).toMatchObject({ type: "Result", ok: true });
  });

  it("escape control characters", async () => {
    await using provider = await FakeProvider.start(
      calls(["read_file", { path: "a.txt\u001b[2K\u001b[1A\u202eharmless" }]),
      says("done"),
    );
    const host = new TestHost({ cwd: place.path });
    await host.run(["run", "x", "--approve", "ask", "--approve-from-stdin", ...provider.options], "n\n");
    expect(host.stderr.text).not.toContain("\u001b");
    expect(host.stderr.text).not.toContain("\u202e");
    expect(host.stderr.text).toContain("\\u001b[2K");
    expect(host.stderr.text).toContain("\\u202eharmless");
  });
});

describe("which calls are asked about", () => {
  const questionsWith = async (policy: readonly string[]): Promise<readonly string[]> => {
    await using provider = await FakeProvider.start(
      calls(
        ["calculator", { expression: "1+1" }],
        ["read_file", { path: "a.txt" }],
        ["fetch_url", { url: "http://127.0.0.1/" }],
      ),
      says("done"),
    );
    const host = new TestHost({ cwd: place.path });
    const args = ["run", "x", "--allow-fetch", "--json", "--approve-from-stdin"];
    await host.run([...args, ...policy, ...provider.options], "n\nn\nn\n");
    return host.stdout.lines
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === "ApprovalRequested")
      .map(({ name }) => name);
  };

  it.each([
    [[], ["fetch_url"]],
    [
      ["--approve", "ask"],
      ["calculator", "read_file", "fetch_url"],
    ],
    [["--approve", "never"], []],
    [
      ["--approve", "above:low"],
      ["read_file", "fetch_url"],
    ],
    [["--approve", "above:medium"], ["fetch_url"]],
    [["--approve", "above:high"], []],
  ])("%j: %j", async (policy, names) => {
    expect(await questionsWith(policy)).toEqual(names);
  });

  it.each(["always", "above:", "constructor", "ASK"])("--approve %j is not valid", (text) => {
    expect(() => parseCommandLine(["run", "x", "--approve", text])).toThrow(/Invalid value for --approve/);
  });
});
