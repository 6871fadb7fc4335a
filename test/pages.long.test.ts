import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { Page, Programs, typeErrors } from "@moora/testbed/page";

/** Pages that build on one another's files: each is followed from its beginning, in the order of its blocks. */
const pages = [
  "getting-started",
  "configuration",
  "approvals",
  "context",
  "durability",
  "evals",
  "files",
  "guardrails",
  "long-conversations",
  "observability",
  "runner",
  "sub-agents",
  "teams",
  "testing",
  "tools",
].map((name) => `docs/${name}.md`);

vi.stubEnv("OPENAI_API_KEY", "");

/** What the sources of the packages need, which a project has only as declarations. */
const ofSources = {
  customConditions: ["@moora/source"],
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  lib: [
    "es2024",
    "esnext.iterator",
    "esnext.collection",
    "esnext.disposable",
    "esnext.array",
    "dom",
    "dom.iterable",
  ],
};

it("the programs of docs/getting-started.md compile with the tsconfig.json that it shows", () => {
  const page = new Page("docs/getting-started.md");
  using programs = new Programs();
  const files = page.fences.flatMap(({ info, text }) => {
    const [, file = ""] = /^ts file=(\S+)$/.exec(info) ?? [];
    return file === "" ? [] : [{ file, text }];
  });
  for (const { file, text } of files) programs.write(file, text);
  const { compilerOptions } = JSON.parse(page.block("json file=tsconfig.json"));
  const config = { compilerOptions: { ...compilerOptions, ...ofSources } };
  expect(files.length).toBeGreaterThan(3);
  expect(
    typeErrors(
      programs,
      files.map(({ file }) => file),
      config,
    ),
  ).toBe("");
});

/** The folder with a folder for the programs of each page. */
const all = new Programs();
const written: string[] = [];

afterAll(() => all[Symbol.dispose]());

describe.each(pages)("%s", (path) => {
  const programs = new Programs(all.path);
  const blocks = new Page(path).fences.flatMap(({ info, text }) => {
    const [, kind, file = ""] = /^(ts file|text from)=(\S+)$/.exec(info) ?? [];
    return file === "" ? [] : [{ isFile: kind === "ts file", file, text }];
  });
  for (const { isFile, file, text } of blocks) {
    if (!isFile) continue;
    programs.write(file, text);
    written.push(join(programs.path, file));
  }

  it.each(blocks)("$file", ({ isFile, file, text }) => {
    const isTest = file.endsWith(".test.ts");
    if (isFile && !isTest) return expect(programs.read(file)).toBe(text);
    const { status, output } = isTest ? programs.test(file) : programs.run(file);
    expect(status, output).toBe(0);
    if (!isFile) expect(output).toBe(text);
  });
});

it("the programs of the pages compile", () => {
  expect(typeErrors(all, written)).toBe("");
});
