import { linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileTools } from "../src/file-tools.ts";
import { runTool, textOf } from "./run-tool.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

const canary = "canary-8c3e";
const place = new TemporaryFolder();
const secrets = [
  "auth.json",
  "s.db",
  "s.db-wal",
  "logs/ada.jsonl",
  ".moora/sessions.db",
  "sub/.moora/mcp.json",
];
const exclude = ["auth.json", "s.db*", "logs", "linked.json", "later"].map((name) => place.at(name));

beforeAll(() => {
  for (const folder of ["logs/deep", ".moora", "sub/.moora", "real"])
    mkdirSync(place.at(folder), { recursive: true });
  for (const secret of [...secrets, "real/linked.json"]) writeFileSync(place.at(secret), canary);
  writeFileSync(place.at("open.txt"), "open");
  writeFileSync(place.at("logs-of-mine.txt"), "open");
  symlinkSync("auth.json", place.at("to-file"));
  symlinkSync("logs", place.at("to-folder"));
  linkSync(place.at("auth.json"), place.at("hard.json"));
  symlinkSync(".moora", place.at("to-moora"));
  symlinkSync("real/linked.json", place.at("linked.json"));
});
afterAll(() => place[Symbol.dispose]());

async function run(name: string, input: object): Promise<string> {
  const tool = fileTools({ root: place.path, exclude }).find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`Unknown tool ${name}.`);
  return textOf(await runTool(tool, input));
}

describe("excluded paths", () => {
  it.each([
    ...secrets,
    "to-file",
    "hard.json",
    "to-folder/ada.jsonl",
    "to-moora/sessions.db",
    "linked.json",
    "real/linked.json",
    "./sub/../auth.json",
  ])("are not read or searched: %s", async (path) => {
    for (const text of [
      await run("read_file", { path }),
      await run("search_files", { query: "canary", path }),
    ]) {
      expect(text).not.toContain(canary);
      expect(text).toMatch(/is excluded: it must not be read\.|No line matches/);
    }
  });

  it.each(["logs", "logs/deep", "to-folder", ".moora", "to-moora", "sub/.moora"])(
    "are not listed: %s",
    async (path) => {
      expect(await run("list_files", { path })).toBe(`"${path}" is excluded: it must not be read.`);
    },
  );

  it("are left out of lists and searches, and nothing else is", async () => {
    const list = (await run("list_files", { recursive: true })).split("\n");
    expect(list).toEqual([
      "hard.json (11 bytes)",
      "logs-of-mine.txt (4 bytes)",
      "open.txt (4 bytes)",
      "real/",
      "sub/",
      "to-file (link)",
      "to-folder (link)",
      "to-moora (link)",
    ]);
    expect(await run("search_files", { query: "canary" })).toBe("No line matches in 2 files.");
    expect(await run("read_file", { path: "logs-of-mine.txt" })).toContain("open");
  });

  it("need not exist when the tools are created", async () => {
    const tools = fileTools({ root: place.path, exclude });
    mkdirSync(place.at("later"));
    writeFileSync(place.at("later", "a.txt"), canary);
    const [, read] = tools;
    if (read === undefined) throw new Error("Missing tool.");
    expect(textOf(await runTool(read, { path: "later/a.txt" }))).toContain("is excluded");
  });

  it("cannot be the root", () => {
    expect(() => fileTools({ root: place.at("logs", "deep"), exclude })).toThrow(
      /is excluded, and cannot be the root\.$/,
    );
  });
});

describe("an excluded path through a link", () => {
  it("is not read where the link leads elsewhere since, nor where it led before", async () => {
    const folders = new TemporaryFolder();
    for (const version of ["v1", "v2"]) {
      mkdirSync(folders.at(version));
      writeFileSync(folders.at(`${version}/users.json`), canary);
    }
    symlinkSync("v1", folders.at("current"));
    const tools = fileTools({ root: folders.path, exclude: [folders.at("current/users.json")] });
    const read = tools.find(({ name }) => name === "read_file");
    if (read === undefined) throw new Error("There is no read_file.");
    symlinkSync("v2", folders.at("next"));
    renameSync(folders.at("next"), folders.at("current"));
    for (const path of ["current/users.json", "v2/users.json", "v1/users.json"])
      expect(textOf(await runTool(read, { path })), path).toContain("is excluded");
    folders[Symbol.dispose]();
  });
});
