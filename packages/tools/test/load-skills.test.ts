import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineAgent, defineTool, runTask } from "@moora/agent";
import type { Tool } from "@moora/agent-core-effects";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { fileTools, loadSkills } from "../src/index.ts";
import { runTool, textOf } from "./run-tool.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

/** A folder with these files. */
function folderWith(files: Readonly<Record<string, string | Uint8Array>>): TemporaryFolder {
  const folder = new TemporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(folder.at(path)), { recursive: true });
    writeFileSync(folder.at(path), content);
  }
  return folder;
}

const skillText = (name: string, more = "", body = "Do it well."): string =>
  `---\nname: ${name}\ndescription: Does ${name}. Use it for that.\n${more}---\n\n${body}\n`;

const reports = {
  "skills/reports/SKILL.md": skillText("reports", "license: MIT\n", "# Reports\n\nSee references/style.md."),
  "skills/reports/references/style.md": "Use short\nsentences.\n",
  "skills/reports/scripts/build.py": "print('built')\n",
  "skills/pdf-forms/SKILL.md": skillText("pdf-forms"),
  "skills/README.md": "No skill.",
  "skills/empty/notes.txt": "No skill either.",
  "secret.txt": "canary-7f31",
};

const toolNamed = (tools: readonly Tool[], name: string): Tool => {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`Unknown tool ${name}.`);
  return tool;
};

const call = async (tools: readonly Tool[], name: string, input: object): Promise<string> =>
  textOf(await runTool(toolNamed(tools, name), input));

/** Why the only skill in a folder was left out. */
async function reasonOf(text: string | Uint8Array, folder = "reports"): Promise<string | undefined> {
  using place = folderWith({ [`${folder}/SKILL.md`]: text });
  const { skipped, skills } = await loadSkills(place.path, { invalid: "skip" });
  expect(skills).toHaveLength(skipped.length === 0 ? 1 : 0);
  return skipped[0]?.reason;
}

describe("the skills of a folder", () => {
  it("are listed for the prompt by name and description, in the order of their names", async () => {
    using place = folderWith(reports);
    const { catalog, tools, skills, skipped } = await loadSkills(place.at("skills"));
    expect(catalog.split("\n")).toEqual([
      "Skills are instructions for certain tasks. Before you begin a task that fits one, load it with load_skill:",
      "- pdf-forms: Does pdf-forms. Use it for that.",
      "- reports: Does reports. Use it for that.",
    ]);
    expect(tools.map(({ name }) => name)).toEqual(["load_skill", "read_skill_file"]);
    expect(skills[1]).toEqual({
      name: "reports",
      description: "Does reports. Use it for that.",
      license: "MIT",
    });
    expect(skipped).toEqual([]);
  });

  it("are loaded by a call, with the names of their files, and scripts are not run", async () => {
    using place = folderWith(reports);
    const { tools } = await loadSkills(place.at("skills"));
    const loaded = await call(tools, "load_skill", { name: "reports" });
    expect(loaded).toBe(
      [
        "The skill reports:",
        "",
        "# Reports",
        "",
        "See references/style.md.",
        "",
        "Files for read_skill_file: references/style.md, scripts/build.py",
        "Scripts cannot be run here: do what they do with your tools, or say that you cannot.",
      ].join("\n"),
    );
    expect(await call(tools, "load_skill", { name: "pdf-forms" })).toBe(
      "The skill pdf-forms:\n\nDo it well.",
    );
    const read = { skill: "reports", path: "references/style.md" };
    expect(await call(tools, "read_skill_file", { ...read, from_line: 2 })).toBe(
      "references/style.md, lines 2 to 2 of 2:\nsentences.",
    );
    expect(await call(tools, "load_skill", { name: "other" })).toBe(
      'name: Instance does not match any of ["pdf-forms","reports"].',
    );
  });

  it("stay as they were loaded when their files change or are removed", async () => {
    using place = folderWith(reports);
    const { tools } = await loadSkills(place.at("skills"));
    rmSync(place.at("skills/reports"), { recursive: true });
    expect(await call(tools, "load_skill", { name: "reports" })).toContain("# Reports");
    expect(await call(tools, "read_skill_file", { skill: "reports", path: "references/style.md" })).toBe(
      '"references/style.md" does not exist.',
    );
  });

  it("may be none: then there is no catalog and no tool", async () => {
    using place = new TemporaryFolder();
    expect(await loadSkills(place.path)).toEqual({ catalog: "", tools: [], skills: [], skipped: [] });
  });

  it("work in an agent that has tools with the names of skills, and file tools", async () => {
    using place = folderWith(reports);
    const { catalog, tools } = await loadSkills(place.at("skills"));
    const llm = new MockLlmCaller([
      callsTools([{ name: "load_skill", arguments: { name: "reports" } }]),
      callsTools([{ name: "reports", arguments: {} }]),
      answers("Done."),
    ]);
    const own = defineTool({
      name: "reports",
      description: "Lists reports.",
      input: { type: "object" },
      execute: () => "the tool",
    });
    const agent = defineAgent({
      llm,
      tools: [own, ...fileTools({ root: place.path }), ...tools],
      config: { systemPrompt: `You write reports.\n\n${catalog}` },
    });
    const { state } = await runTask(agent, "Write a report.");
    const results = Object.values(state.toolCalls).map(({ result }) =>
      result?.isSuccess === true ? result.content : "",
    );
    expect(results[0]).toContain("# Reports");
    expect(results[1]).toBe("the tool");
    expect(JSON.stringify(llm.requests[0])).toContain("- reports: Does reports.");
    expect(() => defineAgent({ llm, tools: [...tools, ...tools] })).toThrow(/load_skill/);
  });
});

describe("a file outside of a skill", () => {
  it.each([
    "../../secret.txt",
    "../pdf-forms/SKILL.md",
    "/etc/passwd",
    "out.txt",
    "folder-out/secret.txt",
    "sibling/SKILL.md",
    "references/../../../secret.txt",
    "\0",
    "scripts",
    "missing.md",
  ])("is not read by the path %j", async (path) => {
    using place = folderWith(reports);
    symlinkSync("../../secret.txt", place.at("skills/reports/out.txt"));
    symlinkSync("../..", place.at("skills/reports/folder-out"));
    symlinkSync("../pdf-forms", place.at("skills/reports/sibling"));
    const { tools } = await loadSkills(place.at("skills"));
    const outcome = await runTool(toolNamed(tools, "read_skill_file"), { skill: "reports", path });
    expect(outcome.isSuccess).toBe(false);
    expect(textOf(outcome)).not.toMatch(/canary|root:|Does pdf-forms/);
  });

  it("is not listed: links are left out", async () => {
    using place = folderWith(reports);
    symlinkSync("../../secret.txt", place.at("skills/reports/out.txt"));
    const { tools } = await loadSkills(place.at("skills"));
    expect(await call(tools, "load_skill", { name: "reports" })).not.toContain("out.txt");
  });

  it("is not a skill: a folder or a SKILL.md that a link leads to outside is invalid", async () => {
    using place = folderWith({ ...reports, "other/SKILL.md": skillText("linked"), "skills/mine/x.md": "x" });
    symlinkSync("../other", place.at("skills/linked"));
    symlinkSync("../pdf-forms/SKILL.md", place.at("skills/mine/SKILL.md"));
    const { skipped, skills } = await loadSkills(place.at("skills"), { invalid: "skip" });
    expect(skills.map(({ name }) => name)).toEqual(["pdf-forms", "reports"]);
    expect(skipped.map(({ reason }) => reason)).toEqual([
      '"linked" leads out of the root folder.',
      '"SKILL.md" leads out of the root folder.',
    ]);
  });

  it("of a large or binary kind inside of a skill is named, and not shown", async () => {
    using place = folderWith({
      ...reports,
      "skills/reports/assets/logo.png": new Uint8Array([0x89, 0x50, 0, 0, 1]),
      "skills/reports/assets/large.txt": "x".repeat(10_000_001),
      "skills/reports/assets/latin.txt": new Uint8Array([0x61, 0xe9, 0x0a]),
    });
    const { tools } = await loadSkills(place.at("skills"));
    const read = async (path: string) => await call(tools, "read_skill_file", { skill: "reports", path });
    expect(await read("assets/logo.png")).toBe(
      "assets/logo.png is a binary file of 5 bytes; it is not shown.",
    );
    expect(await read("assets/large.txt")).toMatch(/^assets\/large.txt is too large/);
    expect(await read("assets/latin.txt")).toContain("a\ufffd");
  });
});

describe("an invalid skill", () => {
  const of = (frontMatter: string): string => `---\n${frontMatter}\n---\nBody.`;
  it.each([
    ["# Reports", "It must begin with front matter between two lines ---."],
    ["", "It must begin with front matter between two lines ---."],
    ["---\nname: reports\n", "It must begin with front matter between two lines ---."],
    ["\n---\nname: reports\n---\n", "It must begin with front matter between two lines ---."],
    ["---\n---\n", "Its front matter must be fields, such as name: value."],
    [of("- a list"), "Its front matter must be fields, such as name: value."],
    [of("only a text"), "Its front matter must be fields, such as name: value."],
    [of("name: reports"), "The front matter has no description."],
    [of("name: reports\ndescription:"), "The front matter has no description."],
    [of('name: reports\ndescription: "  "'), "The front matter has no description."],
    [of("description: Does it."), "The front matter has no name."],
    [of("name: [reports]\ndescription: Does it."), "The name must be a text."],
    [
      of("name: Reports\ndescription: Does it."),
      /^The name must be lower-case letters, .*, got "Reports"\.$/,
    ],
    [of("name: -reports\ndescription: Does it."), /^The name must be lower-case/],
    [of("name: re--ports\ndescription: Does it."), /^The name must be lower-case/],
    [of("name: ../reports\ndescription: Does it."), /^The name must be lower-case/],
    [of("name: r\u00e9ports\ndescription: Does it."), /^The name must be lower-case/],
    [of(`name: ${"a".repeat(65)}\ndescription: Does it.`), "The name has 65 characters; the limit is 64."],
    [
      of("name: other\ndescription: Does it."),
      'The name must be that of its folder, "reports", got "other".',
    ],
    [
      of(`name: reports\ndescription: ${"x".repeat(1_025)}`),
      "The description has 1025 characters; the limit is 1024.",
    ],
    [
      of(`name: reports\ndescription: Does it.\ncompatibility: ${"x".repeat(501)}`),
      /^The compatibility has 501/,
    ],
    [of("name: reports\ndescription: Does it.\nlicense: [MIT]"), "The license must be a text."],
    [of("name: reports\ndescription: Does it.\nmetadata: text"), "The metadata must be a map."],
    [of("name: reports\ndescription: Does it.\nallowed-tools: {a: b}"), /^The allowed-tools must be/],
    [of("name: reports\ndescription: Does it.\nallowed-tools: [[a]]"), /^The allowed-tools must be/],
    [
      of("name: reports\nname: reports\ndescription: Does it."),
      /^Its front matter is not YAML: Map keys must be unique/,
    ],
    [of("name: reports\ndescription: Use it when: needed"), /^Its front matter is not YAML: /],
    [of("name: *reports\ndescription: Does it."), /^Its front matter is not YAML: /],
    [`${skillText("reports")}${"x".repeat(60_000)}`, /^It has 60 kB; the limit is 60 kB\.$/],
    [new Uint8Array([0x2d, 0x2d, 0x2d, 0, 1]), "It is a binary file."],
    [Buffer.from(skillText("reports").replace("well", "w\u00e9ll"), "latin1"), "It is not UTF-8."],
  ])("%# has its reason: %j", async (text, reason) => {
    const found = await reasonOf(text);
    if (typeof reason === "string") expect(found).toBe(reason);
    else expect(found).toMatch(reason);
  });

  it("does not expand aliases without end", async () => {
    const lines = "bcdefghijk".split("").map((name, at) => {
      const before = `*${"abcdefghij"[at]}`;
      return `${name}: &${name} [${Array.from({ length: 9 }, () => before).join(", ")}]`;
    });
    const bomb = of(["name: reports", "description: Does it.", "a: &a [x, x, x]", ...lines].join("\n"));
    expect(await reasonOf(bomb)).toMatch(/^Its front matter is not YAML: Excessive alias count/);
  });

  it("is an error with its file and its reason, by default", async () => {
    using place = folderWith({ ...reports, "skills/broken/SKILL.md": "no front matter" });
    await expect(loadSkills(place.at("skills"))).rejects.toMatchObject({
      kind: "BuildError",
      message: expect.stringMatching(/^Invalid skill .*broken\/SKILL\.md: It must begin with front matter/),
    });
  });
});

describe("a valid skill", () => {
  it("may have all fields, Windows line breaks, a byte order mark, and fields of other products", async () => {
    const text = [
      "\ufeff---",
      "name: reports",
      "description: >",
      "  Does reports.",
      "  Use it.",
      "compatibility: Needs git",
      "metadata:",
      "  version: 1.0",
      "  nested: {a: b}",
      "allowed-tools: Bash(git:*) Read",
      "disable-model-invocation: true",
      "---",
      "Line one.",
      "---",
      "Line two.",
    ].join("\r\n");
    using place = folderWith({ "reports/SKILL.md": text });
    const { skills, tools, catalog } = await loadSkills(place.path);
    expect(skills).toEqual([
      {
        name: "reports",
        description: "Does reports. Use it.",
        compatibility: "Needs git",
        metadata: { version: "1.0" },
        allowedTools: ["Bash(git:*)", "Read"],
      },
    ]);
    expect(await call(tools, "load_skill", { name: "reports" })).toBe(
      "The skill reports:\n\nLine one.\r\n---\r\nLine two.",
    );
    expect(catalog.split("\n")).toHaveLength(2);
  });

  it("may have a list of tools, and a description of many lines stays one line of the catalog", async () => {
    const text = "---\nname: a1\ndescription: |\n  One.\n  - other: Two.\nallowed-tools:\n  - Read\n---";
    using place = folderWith({ "a1/SKILL.md": text });
    const { skills, catalog, tools } = await loadSkills(place.path);
    expect(skills[0]?.allowedTools).toEqual(["Read"]);
    expect(catalog.split("\n").slice(1)).toEqual(["- a1: One. - other: Two."]);
    expect(await call(tools, "load_skill", { name: "a1" })).toBe("The skill a1:\n\n");
  });
});

describe("loadSkills", () => {
  it("names the package to install if yaml is missing, which nothing else of this package needs", () => {
    const program = `
      import { registerHooks } from "node:module";
      const missing = () => {
        throw Object.assign(new Error("Cannot find package 'yaml'"), { code: "ERR_MODULE_NOT_FOUND" });
      };
      registerHooks({ resolve: (name, context, next) => (name === "yaml" ? missing() : next(name, context)) });
      const { loadSkills } = await import("@moora/tools");
      await loadSkills(".").catch(({ message }) => console.log(message));`;
    const options = ["--conditions=@moora/source", "--input-type=module", "--eval", program];
    const { stdout } = spawnSync(process.execPath, options, { cwd: import.meta.dirname, encoding: "utf8" });
    expect(stdout).toBe("loadSkills needs the package yaml. Run: npm install yaml\n");
  });

  it("imports no types of yaml, which would be in our declarations: users need not have the package", () => {
    const folder = join(import.meta.dirname, "../src");
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".ts"),
    );
    expect(sources).toContain("load-skills.ts");
    expect(
      sources.filter((file) => readFileSync(join(folder, file), "utf8").includes('from "yaml"')),
    ).toEqual([]);
  });

  it("refuses a folder that does not exist, and options that do not exist", async () => {
    using place = new TemporaryFolder();
    await expect(loadSkills(place.at("none"))).rejects.toThrow(/ENOENT/);
    const options: object = { strict: true };
    await expect(loadSkills(place.path, options)).rejects.toThrow('Unknown option "strict" of loadSkills.');
    const wrong: object = { invalid: "ignore" };
    await expect(loadSkills(place.path, wrong)).rejects.toThrow(/invalid must be "refuse" or "skip"/);
  });
});
