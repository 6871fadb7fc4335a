import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import type { Tool } from "@moora/agent-core-effects";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileTools } from "../src/file-tools.ts";
import { runTool, textOf } from "./run-tool.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

const place = new TemporaryFolder();
const text = async (name: string, input: object): Promise<string> =>
  textOf(await runTool(toolNamed(name), input));

beforeAll(() => {
  for (const folder of ["src/deep", "node_modules/x", ".git", ".moora"])
    mkdirSync(place.at(folder), { recursive: true });
  writeFileSync(place.at("README.md"), "# Title\n\nThe answer is 42.\n");
  writeFileSync(place.at("src", "a.ts"), "const one = 1;\r\nconst two = 2;\r\n");
  writeFileSync(place.at("src", "deep", "b.test.ts"), "// TODO: answer\n");
  writeFileSync(place.at("node_modules", "x", "answer.js"), "answer");
  writeFileSync(place.at(".git", "config"), "answer");
  writeFileSync(place.at("empty"), "");
  writeFileSync(place.at("image.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13]));
  writeFileSync(place.at("latin.txt"), Buffer.from("caf\xe9\n", "latin1"));
  writeFileSync(place.at("long.txt"), Array.from({ length: 3_000 }, (_, at) => `line ${at + 1}`).join("\n"));
  writeFileSync(place.at("wide.txt"), "\u{1f600}".repeat(40_000));
  writeFileSync(place.at("line\nbreak"), "");
  symlinkSync("README.md", place.at("link"));
  writeFileSync(place.at("huge.log"), "");
});
afterAll(() => place[Symbol.dispose]());

describe("list_files", () => {
  it("lists a folder in the order of its names, with sizes and without ignored folders", async () => {
    const lines = (await text("list_files", {})).split("\n");
    expect(lines).toContain("README.md (27 bytes)");
    expect(lines).toContain("src/");
    expect(lines).toContain("link (link)");
    expect(lines.join("\n")).not.toMatch(/node_modules|\.git|\.moora/);
    const names = lines.filter((line) => !line.startsWith('"'));
    expect(names).toEqual(names.toSorted());
  });

  it("lists subfolders on request, and by a pattern", async () => {
    expect(await text("list_files", { path: "src", recursive: true })).toBe(
      "src/a.ts (32 bytes)\nsrc/deep/\nsrc/deep/b.test.ts (16 bytes)",
    );
    expect(await text("list_files", { recursive: true, name: "*.test.ts" })).toBe(
      "src/deep/b.test.ts (16 bytes)",
    );
    expect(await text("list_files", { name: "*.rs" })).toBe("No files found.");
  });

  it("lists an ignored folder that is named", async () => {
    expect(await text("list_files", { path: "node_modules/x" })).toBe("node_modules/x/answer.js (6 bytes)");
  });

  it("cuts a long list and reports it", async () => {
    using many = new TemporaryFolder();
    for (let at = 0; at < 501; at += 1) writeFileSync(many.at(`file-${at}.txt`), "");
    const lines = textOf(await runTool(toolNamed("list_files", many.path), {})).split("\n");
    expect(lines).toHaveLength(501);
    expect(lines.at(-1)).toBe("[cut: the first 500 entries are shown; ask for a folder or a name]");
  });

  it("quotes a name that could look like two lines", async () => {
    expect(await text("list_files", { name: "line*" })).toBe('"line\\nbreak" (0 bytes)');
  });

  it("reports the kind of a file", async () => {
    expect(await text("list_files", { path: "README.md" })).toBe('"README.md" is not a folder.');
  });
});

describe("read_file", () => {
  it("returns the lines with their numbers", async () => {
    expect(await text("read_file", { path: "README.md" })).toBe(
      "README.md, lines 1 to 3 of 3:\n# Title\n\nThe answer is 42.",
    );
    expect(await text("read_file", { path: "src/a.ts" })).toBe(
      "src/a.ts, lines 1 to 2 of 2:\nconst one = 1;\nconst two = 2;",
    );
  });

  it("reads a part and reports the rest", async () => {
    expect(await text("read_file", { path: "long.txt", from_line: 10, line_count: 2 })).toBe(
      "long.txt, lines 10 to 11 of 3000:\nline 10\nline 11\n[cut: 2989 more lines, from line 12]",
    );
    expect(await text("read_file", { path: "long.txt" })).toContain("[cut: 1000 more lines, from line 2001]");
    expect(await text("read_file", { path: "long.txt", from_line: 5_000 })).toBe(
      "long.txt has 3000 lines; line 5000 does not exist.",
    );
  });

  it("cuts a line that is too long between characters", async () => {
    const shown = await text("read_file", { path: "wide.txt" });
    expect(shown).toContain("[cut: a long line]");
    expect(shown.isWellFormed()).toBe(true);
    expect(shown.length).toBeLessThan(61_000);
  });

  it("does not show a binary file, an empty one or one that is too large", async () => {
    expect(await text("read_file", { path: "image.png" })).toBe(
      "image.png is a binary file of 8 bytes; it is not shown.",
    );
    expect(await text("read_file", { path: "empty" })).toBe("empty is empty.");
    truncateSync(place.at("huge.log"), 20_000_000);
    expect(await text("read_file", { path: "huge.log" })).toBe(
      "huge.log is too large: 20000 kB; the maximum is 10000 kB.",
    );
  });

  it("replaces bytes that are not valid UTF-8", async () => {
    expect(await text("read_file", { path: "latin.txt" })).toContain("caf\ufffd");
  });

  it.each([{}, { path: 1 }, { path: "README.md", from_line: 0 }, { path: "README.md", other: 1 }])(
    "rejects the input %j",
    async (input) => {
      expect(await runTool(toolNamed("read_file"), input)).toMatchObject({
        isSuccess: false,
        code: "invalid-arguments",
      });
    },
  );

  it("stops when it is aborted", async () => {
    const outcome = await runTool(toolNamed("read_file"), { path: "README.md" }, AbortSignal.abort());
    expect(outcome.isSuccess).toBe(false);
  });
});

describe("search_files", () => {
  it("finds lines, file by file, without what is ignored or binary", async () => {
    const lines = (await text("search_files", { query: "answer" })).split("\n");
    expect(lines[0]).toMatch(/^2 lines match in \d+ files\./);
    expect(lines.slice(1)).toEqual([
      "README.md:3: The answer is 42.",
      "src/deep/b.test.ts:1: // TODO: answer",
    ]);
  });

  it("searches a folder, a file, or names that match a pattern", async () => {
    expect(await text("search_files", { query: "answer", path: "src" })).toContain("1 line matches");
    expect(await text("search_files", { query: "answer", path: "README.md" })).toBe(
      "1 line matches in 1 file.\nREADME.md:3: The answer is 42.",
    );
    expect(await text("search_files", { query: "answer", name: "*.md" })).toContain("README.md:3:");
  });

  it("is case-sensitive by default", async () => {
    expect(await text("search_files", { query: "ANSWER" })).toContain("No line matches");
    expect(await text("search_files", { query: "ANSWER", ignore_case: true })).toContain("2 lines match");
  });

  it("searches literal text by default, and a regular expression on request", async () => {
    expect(await text("search_files", { query: "answer.*2" })).toContain("No line matches");
    expect(await text("search_files", { query: "answer.*2\\.$", regex: true })).toContain("README.md:3:");
    expect(await text("search_files", { query: "^const (one|two)", regex: true })).toContain("src/a.ts:2:");
    expect(await text("search_files", { query: "(", regex: true })).toContain("Invalid regular expression");
    expect(await text("search_files", { query: "a".repeat(201), regex: true })).toContain("longer than 200");
  });

  it("cuts a long list and reports it", async () => {
    using long = new TemporaryFolder();
    writeFileSync(long.at("a.txt"), "needle\n".repeat(201));
    const found = await runTool(toolNamed("search_files", long.path), { query: "needle" });
    const lines = textOf(found).split("\n");
    expect(lines.at(-1)).toBe("[cut: the first 200 lines are shown]");
    expect(lines).toHaveLength(202);
  });

  it.each(["(a+)+$", "(a|aa)+$", "^(\\w+\\s?)*$"])(
    "matches in linear time what a backtracking engine never ends: %s",
    async (query) => {
      using slow = new TemporaryFolder();
      writeFileSync(slow.at("a.txt"), `${"a".repeat(1_500)}!\n`.repeat(200));
      const found = textOf(await runTool(toolNamed("search_files", slow.path), { query, regex: true }));
      expect(found).toMatch(/^No line matches in 1 file\.$|^1 line matches in 1 file\.\na\.txt:201: $/);
    },
  );

  it.each(["(?=a)", "(a)\\1"])("refuses what a linear-time engine does not have: %s", async (query) => {
    expect(await text("search_files", { query, regex: true })).toContain(
      "Use the syntax of RE2: no lookarounds, no backreferences.",
    );
  });

  it("skips large files and reports it", async () => {
    using big = new TemporaryFolder();
    writeFileSync(big.at("a.txt"), "needle");
    writeFileSync(big.at("b.txt"), "needle".repeat(400_000));
    expect(textOf(await runTool(toolNamed("search_files", big.path), { query: "needle" }))).toBe(
      "1 line matches in 1 file. 1 large file was skipped.\na.txt:1: needle",
    );
  });

  it("stops when it is aborted", async () => {
    const outcome = await runTool(toolNamed("search_files"), { query: "x" }, AbortSignal.abort());
    expect(outcome.isSuccess).toBe(false);
  });
});

describe("the definitions of the tools", () => {
  it("allow every call to be repeated", () => {
    for (const { definition } of fileTools({ root: place.path }))
      expect(definition).toMatchObject({ risk: "low", replay: "safe" });
  });
});

function toolNamed(name: string, root: string = place.path): Tool {
  const tool = fileTools({ root }).find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`Unknown tool ${name}.`);
  return tool;
}
