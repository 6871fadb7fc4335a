import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

const module = join(import.meta.dirname, "eval-module.ts");

const secret = "k<secret>&7";

async function cli(...args: readonly string[]) {
  const host = new TestHost({ cwd: place.path, env: { FAKE_API_KEY: secret } });
  return { code: await host.run(args), out: host.stdout.text, err: host.stderr.text };
}

const read = (file: string): string => readFileSync(join(place.path, file), "utf8");

/** Writes a case of the folder `evals`. */
function write(name: string, value: unknown): void {
  mkdirSync(join(place.path, "evals"), { recursive: true });
  writeFileSync(join(place.path, "evals", name), JSON.stringify(value));
}

const norway = { input: "The capital of Norway?", expect: { contains: "Oslo" } };

/** Records a session that has called the calculator. */
async function record(): Promise<void> {
  await using provider = await FakeProvider.start(
    calls(["calculator", { expression: "6*7" }]),
    says("It is 42."),
  );
  expect((await cli("run", "what is 6*7?", "--session", "ada", ...provider.options)).code).toBe(0);
}

describe("moora eval add", () => {
  it("makes a case of a session, which expects what was recorded, for a person to edit", async () => {
    await record();
    const { code, out } = await cli("eval", "add", "ada", "--at", "1");
    expect([code, out]).toEqual([
      0,
      "evals/ada-1.json expects what was recorded. Edit it, then run: moora eval evals\n",
    ]);
    expect(JSON.parse(read("evals/ada-1.json"))).toEqual({
      session: "ada-1.jsonl",
      at: 1,
      expect: { answer: "It is 42.", tools: ["calculator"] },
    });
    expect(read("evals/ada-1.jsonl")).toContain("moora/session/1");
  });

  it("makes a case that holds also where a call was open", async () => {
    await record();
    expect((await cli("eval", "add", "ada", "--at", "3")).code).toBe(0);
    expect(read("evals/ada-3.jsonl")).toContain('{"seq":3,"body":"{\\"type\\":\\"re-act-observed\\"');
    await using same = await FakeProvider.start(says("It is 42."));
    expect((await cli("eval", ...same.options)).out).toContain("ok: 1 of 1 cases passed");
  });

  it("writes no case where its session cannot be written", async () => {
    await record();
    write("ada-0.jsonl", { input: "Hi" });
    expect((await cli("eval", "add", "ada")).err).toContain("evals/ada-0.jsonl exists already.");
    expect(existsSync(join(place.path, "evals/ada-0.json"))).toBe(false);
  });

  it("refuses a case that exists, a session and a record that do not, and options of an evaluation", async () => {
    await record();
    await cli("eval", "add", "ada", "cases");
    expect(await cli("eval", "add", "ada", "cases")).toMatchObject({
      code: 5,
      err: "moora: The file cases/ada-0.jsonl exists already.\n",
    });
    expect(await cli("eval", "add", "bob")).toMatchObject({ code: 3 });
    expect(await cli("eval", "add", "ada", "--at", "99")).toMatchObject({ code: 3 });
    expect(existsSync(join(place.path, "evals"))).toBe(false);
    expect((await cli("eval", "add")).err).toContain('Missing <session> for "moora eval add".');
    expect((await cli("eval", "add", "ada", "--junit", "x.xml")).err).toBe(
      'moora: "moora eval add" does not take the option --junit. Run: moora help eval\n',
    );
  });
});

describe("moora eval", () => {
  it("writes no secrets into the results, nor into a report", async () => {
    write("norway.json", { ...norway, name: `norway ${secret}` });
    const { code } = await cli("eval", "--agent", module, "--junit", "evals.xml");
    expect(code).toBe(0);
    expect(JSON.parse(read("evals/results.json"))).toMatchObject({ cases: [{ name: "norway [secret]" }] });
    expect(read("evals.xml")).toContain('<testcase name="norway [secret]"');
  });

  it("runs recorded sessions again with another model, and without a module", async () => {
    await record();
    await cli("eval", "add", "ada");
    const again = calls(["calculator", { expression: "6*7" }]);
    await using same = await FakeProvider.start(again, says("It is 42."));
    const good = await cli("eval", ...same.options);
    expect(good.out).toMatch(/^case {7}answer {2}tools {2}tokens {2}cost +ms\nada-0 +1 +1 /);
    expect([good.code, good.out.split("\n").at(-2)]).toEqual([0, "ok: 1 of 1 cases passed"]);
    await using other = await FakeProvider.start(again, says("42!"));
    const bad = await cli("eval", ...other.options);
    expect(bad.code).toBe(1);
    expect(bad.out).toContain(
      'ada-0: answer 0, is "42!" (passed in the last run)\nnot ok: 0 of 1 cases passed',
    );
  });

  it("runs the agent of a module with its scorers and its gate, and keeps the results", async () => {
    write("norway.json", norway);
    const { code, out } = await cli("eval", "--agent", module, "--json", "--junit", "evals.xml");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ok: true, scores: { contains: 1, short: 1 } });
    expect(JSON.parse(read("evals/results.json"))).toMatchObject({ scores: { contains: 1, short: 1 } });
    expect(read("evals.xml")).toContain('<testcase name="norway"');
  });

  it("ends with 1 where the gate is broken, and compares with the last run that was ok", async () => {
    write("norway.json", norway);
    await cli("eval", "--agent", module);
    write("norway.json", { input: ["The capital of Norway?", "Say more."], expect: { contains: "Bergen" } });
    const { code, out } = await cli("eval", "--agent", module);
    expect(code).toBe(1);
    expect(out).toContain("not ok: short fell from 1 to 0.5, by more than 0.2\n");
    expect(JSON.parse(read("evals/results.json"))).toMatchObject({ scores: { short: 1 } });
  });

  it.each([
    [["eval"], 3, "The folder evals does not exist. Add a case: moora eval add SESSION evals"],
    [["eval", "a", "b"], 2, 'Too many arguments for "moora eval".'],
    [["eval", "--at", "3"], 2, '"moora eval" does not take the option --at.'],
    [["eval", "--agnt", "x"], 2, 'Unknown option "--agnt". Did you mean "--agent"?'],
  ])("refuses %j", async (args, code, message) => {
    const result = await cli(...args);
    expect(result.code).toBe(code);
    expect(result.err).toContain(message);
  });

  it("refuses an invalid case, a file of results that has none, and a module that does not exist", async () => {
    write("norway.json", { ...norway, expected: "Oslo" });
    expect(await cli("eval", "--agent", module)).toMatchObject({
      code: 2,
      err: expect.stringContaining('Did you mean "expect"?'),
    });
    write("norway.json", norway);
    write("results.json", "none");
    expect((await cli("eval", "--agent", module)).err).toContain("last must be the results of a run");
    expect((await cli("eval", "--agent", "nowhere.ts")).err).toContain("The file nowhere.ts does not exist.");
  });

  it("refuses a module whose evals are not an object, so that no gate of it is lost", async () => {
    write("norway.json", norway);
    const text = `export { agent } from ${JSON.stringify(module)};\nexport const evals = [];\n`;
    writeFileSync(join(place.path, "agent.mjs"), text);
    const { code, err } = await cli("eval", "--agent", "agent.mjs");
    expect([code, err]).toEqual([2, expect.stringContaining("evals of agent.mjs must be an object.")]);
  });

  it("has its options in its help", async () => {
    const { code, out } = await cli("eval", "--help");
    expect(code).toBe(0);
    expect(out).toContain("moora eval [folder] | add <session> [folder]\n");
    expect(out).toContain("--junit FILE");
  });
});
