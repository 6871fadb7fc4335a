import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { Child, source } from "./child.ts";
import { FakeProvider, hangs, says } from "./fake-provider.ts";

/** The command with its output to a device that is always full. */
const fullDisk = `"${process.execPath}" --conditions=@moora/source "${join(source, "main.ts")}" run 2+2 > /dev/full`;

describe("the command in a process of its own", { timeout: 60_000 }, () => {
  it("answers and ends, although its input stays open", async () => {
    const child = new Child(["run", "What is 2 + 2?"]);
    expect(await child.ended()).toBe(0);
    expect(child.stdout).toBe("According to calculator: 2 + 2 = 4.\n");
    expect(child.stderr).toContain("Standard input is open but sends nothing; the task runs without it.");
  });

  it("reads its task, or a chat, from a pipe", async () => {
    const run = new Child(["run", "-"]);
    run.process.stdin.end("what is\n12.5% of 640?\n");
    expect(await run.ended()).toBe(0);
    expect(run.stdout).toContain("= 80");
    const chat = new Child(["chat"]);
    chat.process.stdin.end("1+1\n2+2");
    expect(await chat.ended()).toBe(0);
    expect(chat.stdout.split("\n")).toHaveLength(3);
  });

  it("asks, and with --approve-from-stdin takes the decision from its input", async () => {
    using place = new TemporaryFolder();
    writeFileSync(place.at("a.txt"), "the text\n");
    const child = new Child(["run", "read a.txt", "--approve", "ask", "--approve-from-stdin"], place.path);
    await child.shows("stderr", "The agent wants to call read_file");
    child.process.stdin.write("y\n");
    expect(await child.ended()).toBe(0);
    expect(child.stdout).toContain("the text");
  });

  it("prints lines of JSON that parse", async () => {
    const child = new Child(["run", "--json", "2+2"]);
    child.process.stdin.end();
    expect(await child.ended()).toBe(0);
    const rows = child.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.at(-1)).toMatchObject({ type: "Result", ok: true });
  });

  it("ends with 2 for an invalid command line", async () => {
    const child = new Child(["run", "--jsno"]);
    expect(await child.ended()).toBe(2);
    expect(child.stderr).toBe('moora: Unknown option "--jsno". Did you mean "--json"?\n');
  });

  it("Ctrl-C ends a run with 130, and what it had written stays", async () => {
    await using provider = await FakeProvider.start(hangs("Let me see, "));
    const child = new Child(["run", "x", "--json", ...provider.options]);
    child.process.stdin.end();
    await child.shows("stdout", "see, ");
    child.process.kill("SIGINT");
    expect(await child.ended()).toBe(130);
    expect(child.stdout).toMatch(/"text":"see, ".*"explanation":"Canceled\."/s);
    expect(child.stderr).toBe("");
  });

  it("Ctrl-C ends the answer of a chat and not the chat; at the prompt it does", async () => {
    await using provider = await FakeProvider.start(hangs("Let me see, "), says("Here I am."));
    const child = new Child(["chat", "--json", ...provider.options]);
    child.process.stdin.write("one\n");
    await child.shows("stdout", "see, ");
    child.process.kill("SIGINT");
    await child.shows("stdout", "Canceled.");
    child.process.stdin.write("two\n/tools\n");
    await child.shows("stdout", "Here I am.");
    await child.shows("stderr", "calculator:");
    child.process.kill("SIGINT");
    expect(await child.ended()).toBe(130);
  });

  it("ends quietly when its output is closed", async () => {
    const child = new Child(["chat"]);
    child.process.stdin.write("1+1\n");
    await child.shows("stdout", "= 2");
    child.process.stdout.destroy();
    child.process.stdin.write("2+2\n".repeat(50));
    child.process.stdin.end();
    expect(await child.ended()).toBe(0);
    expect(child.stderr).not.toContain("EPIPE");
  });

  it("reports a full disk in one line", async () => {
    const child = new Child([], undefined, ["-c", fullDisk], "/bin/sh");
    child.process.stdin.end();
    expect(await child.ended()).toBe(6);
    expect(child.stderr.split("\n").at(-2)).toMatch(/^moora: Standard output cannot be written: .*ENOSPC/);
    expect(child.stderr).not.toContain("    at ");
  });

  it.each([
    ["syntax.mjs", "export const a = 1;\nexport const b = ;\n", "2:18: SyntaxError: Unexpected token ';'"],
    [
      "types.ts",
      "export const a: number = 1;\nexport const b: = 3;\n",
      "2:17: SyntaxError: Unexpected token",
    ],
    ["throws.mjs", "export const a = 1;\n\nmissing();\n", "3:1: ReferenceError: missing is not defined"],
    ["absent.mjs", 'import { no } from "node:fs";\n', "1:10: SyntaxError: The requested module"],
  ])("names file, line and column of an error in --tools %s", async (name, text, place) => {
    using folder = new TemporaryFolder();
    writeFileSync(folder.at(name), text);
    const child = new Child(["run", "2+2", "--tools", name], folder.path);
    child.process.stdin.end();
    expect(await child.ended()).toBe(2);
    expect(child.stderr).toContain(`moora: Cannot load ${name}: ${realpathSync(folder.at(name))}:${place}`);
    expect(child.stderr).not.toContain("    at ");
  });

  it("names the line of the module, not that of the package in which it fails", async () => {
    using folder = new TemporaryFolder();
    mkdirSync(folder.at("node_modules/lib"), { recursive: true });
    writeFileSync(
      folder.at("node_modules/lib/package.json"),
      '{ "type": "module", "exports": "./index.js" }',
    );
    writeFileSync(
      folder.at("node_modules/lib/index.js"),
      "export const define = () => {\n  throw new Error('bad name');\n};\n",
    );
    writeFileSync(folder.at("bad.mjs"), 'import { define } from "lib";\n\nexport const tool = define();\n');
    const child = new Child(["run", "2+2", "--tools", "bad.mjs"], folder.path);
    child.process.stdin.end();
    expect(await child.ended()).toBe(2);
    expect(child.stderr).toContain(`${realpathSync(folder.at("bad.mjs"))}:3:21: Error: bad name`);
  });

  it.each([
    ["agent.ts", 'import "node:fs";\nexport const a: number = 1;\n', "agent.mts"],
    ["agent.js", "export const a = 1;\n", "agent.mjs"],
  ])("names what makes %s a module in a folder of npm init", async (name, text, renamed) => {
    using folder = new TemporaryFolder();
    writeFileSync(folder.at("package.json"), '{ "type": "commonjs" }');
    writeFileSync(folder.at(name), text);
    const child = new Child(["serve", "--agent", name], folder.path);
    child.process.stdin.end();
    expect(await child.ended()).toBe(2);
    expect(child.stderr).toContain(`Set "type": "module" in package.json, or rename it to ${renamed}.\n`);
  });

  it("ends if a session without input waits for a decision", async () => {
    using folder = new TemporaryFolder();
    writeFileSync(folder.at("a.txt"), "the text\n");
    const child = new Child(["run", "read a.txt", "--approve", "ask", "--session", "w"], folder.path);
    child.process.stdin.end();
    expect(await child.ended()).toBe(7);
    expect(child.stderr).toContain("  moora approve w call_1\n");
    expect(child.stderr).toContain("then resume with\n  moora run --session w\n");
  });

  it("runs from a clone by its short name", async () => {
    const child = new Child(["run", "3*4"], undefined, [join(source, "../../bin/moora.js")]);
    child.process.stdin.end();
    expect(await child.ended()).toBe(0);
    expect(child.stdout).toContain("3*4 = 12");
    const wrong = new Child(["no"], undefined, [join(source, "../../bin/moora.js")]);
    expect(await wrong.ended()).toBe(2);
  });
});

describe("the demonstration", { timeout: 60_000 }, () => {
  it("shows calls alone, in parallel and in a chain, the records, and that they replay", async () => {
    const child = new Child([], undefined, [join(source, "demo.ts")]);
    expect(await child.ended()).toBe(0);
    expect(child.stderr).toBe("");
    expect(child.stdout).toMatch(/-> list_files .*\n-> read_file .*\n-> search_files /);
    expect(child.stdout).toMatch(/-> search_files .*\n<- search_files .*\n-> read_file .*machine\.ts/);
    expect(child.stdout).toContain("= 125");
    expect(child.stdout).toContain("[LlmParallelToolCalls]");
    expect(child.stdout).toContain("demo is intact: ");
  });
});
