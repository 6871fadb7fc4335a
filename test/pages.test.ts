import { afterAll, describe, expect, it, vi } from "vitest";
import { Page, Programs, typeErrors } from "@moora/testbed/page";

/** Pages that build on one another's files: each is followed from its beginning, in the order of its blocks. */
const pages = [
  "getting-started",
  "configuration",
  "approvals",
  "context",
  "durability",
  "files",
  "observability",
  "sub-agents",
  "teams",
  "testing",
  "tools",
].map((name) => `docs/${name}.md`);

vi.stubEnv("OPENAI_API_KEY", "");

describe.each(pages)("%s", (path) => {
  const page = new Page(path);
  const programs = new Programs();
  const blocks = page.fences.flatMap(({ info, text }) => {
    const [, kind, file = ""] = /^(ts file|text from)=(\S+)$/.exec(info) ?? [];
    return file === "" ? [] : [{ isFile: kind === "ts file", file, text }];
  });

  afterAll(() => programs[Symbol.dispose]());

  it("has programs that compile", () => {
    const files = blocks.filter(({ isFile }) => isFile);
    for (const { file, text } of files) programs.write(file, text);
    expect(
      typeErrors(
        programs,
        files.map(({ file }) => file),
      ),
    ).toBe("");
  });

  it.each(blocks)("$file", ({ isFile, file, text }) => {
    const isTest = file.endsWith(".test.ts");
    if (isFile && !isTest) return expect(programs.read(file)).toBe(text);
    const { status, output } = isTest ? programs.test(file) : programs.run(file);
    expect(status, output).toBe(0);
    if (!isFile) expect(output).toBe(text);
  });
});
