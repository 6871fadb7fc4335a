import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import type { Tool } from "@moora/agent-core-effects";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fileTools } from "../src/file-tools.ts";
import { RootFolder } from "../src/files/root-folder.ts";
import { Refused } from "../src/refused.ts";
import { runTool, textOf } from "./run-tool.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

const canary = "canary-5d1f";
const place = new TemporaryFolder();
const root = place.at("data");
const sentinels = [place.at("secret.txt"), place.at("data-evil", "secret.txt")];
const longAgo = new Date(0);

beforeAll(() => {
  mkdirSync(place.at("data", "sub"), { recursive: true });
  mkdirSync(place.at("data-evil"));
  for (const sentinel of sentinels) writeFileSync(sentinel, canary);
  writeFileSync(place.at("data", "inside.txt"), "inside");
  writeFileSync(place.at("data", "sub", "%2e%2e"), "a file of this name");
  symlinkSync("../secret.txt", place.at("data", "link-out.txt"));
  symlinkSync("..", place.at("data", "folder-out"));
  symlinkSync("/etc", place.at("data", "etc"));
  symlinkSync("../nowhere.txt", place.at("data", "dangling-out.txt"));
  symlinkSync("inside.txt", place.at("data", "link-in.txt"));
  symlinkSync("loop", place.at("data", "loop"));
  const makePipe = "mkfifo";
  execFileSync(makePipe, [place.at("data", "pipe")]);
  symlinkSync("/dev/zero", place.at("data", "zero"));
});
afterAll(() => place[Symbol.dispose]());
beforeEach(() => {
  for (const sentinel of sentinels) utimesSync(sentinel, longAgo, new Date());
});

const hostile = [
  "../secret.txt",
  "sub/../../secret.txt",
  "./../secret.txt",
  "..",
  "sub/../..",
  "sub/../../data/inside.txt",
  "../data-evil/secret.txt",
  `${place.path}/secret.txt`,
  `${place.path}/data-evil/secret.txt`,
  `${root}/inside.txt`,
  "/etc/passwd",
  "//etc/passwd",
  "\\..\\secret.txt",
  "link-out.txt",
  "folder-out/secret.txt",
  "folder-out/data-evil/secret.txt",
  "folder-out/data/inside.txt/../../../secret.txt",
  "etc/passwd",
  "dangling-out.txt",
  "%2e%2e/secret.txt",
  "%2e%2e%2fsecret.txt",
  "..%2fsecret.txt",
  "..%00/secret.txt",
  "inside.txt\0/../../secret.txt",
  "\0",
  "..\0",
  "....//secret.txt",
  "..;/secret.txt",
  "\u2025/secret.txt",
  "\uff0e\uff0e/secret.txt",
  "~/secret.txt",
  "file:///etc/passwd",
  "../DATA-EVIL/secret.txt",
  "../DATA/inside.txt",
  "../data/inside.txt",
  "pipe",
  "zero",
  "loop",
  "sub",
  "inside.txt/x",
  "missing.txt",
  ".",
  "",
];

describe("(M07) the traversal set", () => {
  it.each(hostile)("read_file rejects %j", async (path) => {
    const outcome = await runTool(toolNamed("read_file"), { path });
    expect(outcome.isSuccess).toBe(false);
    checkUntouched(textOf(outcome));
  });

  it.each(hostile.filter((path) => !["", ".", "sub", "pipe", "zero"].includes(path)))(
    "search_files finds nothing in %j",
    async (path) => {
      const outcome = await runTool(toolNamed("search_files"), { query: "canary", path });
      checkUntouched(textOf(outcome));
      expect(textOf(outcome)).not.toContain("matches in");
    },
  );

  it.each(hostile.filter((path) => !["", ".", "sub"].includes(path)))(
    "list_files rejects %j",
    async (path) => {
      const outcome = await runTool(toolNamed("list_files"), { path, recursive: true });
      expect(outcome.isSuccess).toBe(false);
      checkUntouched(textOf(outcome));
    },
  );

  it("a search and a listing of everything follow no link out", async () => {
    const found = textOf(await runTool(toolNamed("search_files"), { query: canary }));
    expect(found).toMatch(/^No line matches in /);
    const listed = textOf(await runTool(toolNamed("list_files"), { recursive: true }));
    expect(listed.split("\n")).toContain("folder-out (link)");
    expect(listed).not.toMatch(/secret|passwd/);
    checkUntouched(listed);
  });

  it("does not reveal what exists outside", async () => {
    const there = textOf(await runTool(toolNamed("read_file"), { path: "folder-out/secret.txt" }));
    const notThere = textOf(await runTool(toolNamed("read_file"), { path: "folder-out/nothing.txt" }));
    expect(notThere).toBe(there.replace("secret", "nothing"));
    const dangling = textOf(await runTool(toolNamed("read_file"), { path: "dangling-out.txt" }));
    expect(dangling).toBe('"dangling-out.txt" leads out of the root folder.');
  });

  it("does not name real paths in errors", async () => {
    for (const path of hostile) {
      if (path.startsWith(place.path)) continue;
      expect(textOf(await runTool(toolNamed("read_file"), { path }))).not.toContain(place.path);
    }
  });
});

describe("paths inside the root", () => {
  it.each([
    ["inside.txt", "inside"],
    ["./inside.txt", "inside"],
    ["sub//%2e%2e", "a file of this name"],
    ["link-in.txt", "inside"],
    ["sub/../inside.txt", "inside"],
    ["sub/missing/../../inside.txt", "inside"],
    ["folder-out/../inside.txt", "inside"],
  ])("%s is read", async (path, text) => {
    expect(textOf(await runTool(toolNamed("read_file"), { path }))).toContain(text);
  });
});

describe("a path with ..", () => {
  it("is that of the folder which it names, and leads out only above the root", async () => {
    const listed = textOf(await runTool(toolNamed("list_files"), { path: "sub/.." }));
    expect(listed.split("\n")).toContain("inside.txt (6 bytes)");
    expect(listed).toBe(textOf(await runTool(toolNamed("list_files"), {})));
    const read = async (path: string): Promise<string> =>
      textOf(await runTool(toolNamed("read_file"), { path }));
    expect(await read("sub/../none.txt")).toBe('"sub/../none.txt" does not exist.');
    expect(await read("sub/../../data/inside.txt")).toMatch(/leads out of the root folder\.$/);
  });

  it("is shown without it in lists and searches", async () => {
    const found = textOf(await runTool(toolNamed("search_files"), { query: "name", path: "sub/../sub" }));
    expect(found).toContain("sub/%2e%2e:1:");
  });
});

describe("paths that are replaced between check and open", () => {
  it("a folder that became a link out is not read through", async () => {
    using moving = new TemporaryFolder();
    mkdirSync(moving.at("root", "folder"), { recursive: true });
    mkdirSync(moving.at("out"));
    writeFileSync(moving.at("root", "folder", "a.txt"), "inside");
    writeFileSync(moving.at("out", "a.txt"), canary);
    const folder = new RootFolder(moving.at("root"));
    const real = await folder.realPathOf("folder/a.txt");
    renameSync(moving.at("root", "folder"), moving.at("root", "was"));
    symlinkSync(moving.at("out"), moving.at("root", "folder"));
    await expect(folder.openReal("folder/a.txt", real, "file")).rejects.toMatchObject({ code: "outside" });
  });

  it("a file that became a link out is not opened", async () => {
    using moving = new TemporaryFolder();
    mkdirSync(moving.at("root"));
    writeFileSync(moving.at("root", "a.txt"), "inside");
    writeFileSync(moving.at("out.txt"), canary);
    const folder = new RootFolder(moving.at("root"));
    const real = await folder.realPathOf("a.txt");
    renameSync(moving.at("root", "a.txt"), moving.at("root", "b.txt"));
    symlinkSync("../out.txt", moving.at("root", "a.txt"));
    await expect(folder.openReal("a.txt", real, "file")).rejects.toBeInstanceOf(Refused);
  });

  it("a folder that became a link out is not listed", async () => {
    using moving = new TemporaryFolder();
    mkdirSync(moving.at("root", "a", "b"), { recursive: true });
    mkdirSync(moving.at("out", "b"), { recursive: true });
    const folder = new RootFolder(moving.at("root"));
    const real = await folder.realPathOf("a/b");
    renameSync(moving.at("root", "a"), moving.at("root", "was"));
    symlinkSync("../out", moving.at("root", "a"));
    await expect(folder.openReal("a/b", real, "folder")).rejects.toMatchObject({ code: "outside" });
  });
});

describe("the root", () => {
  it("is a folder that exists", () => {
    expect(() => new RootFolder(place.at("nothing"))).toThrow(/ENOENT/);
    expect(() => new RootFolder(place.at("secret.txt"))).toThrow(/is not a folder/);
  });

  it("may itself be reached through a link", async () => {
    using other = new TemporaryFolder();
    symlinkSync(root, other.at("link"));
    const folder = new RootFolder(other.at("link"));
    expect(folder.path).toBe(await realpath(root));
    await (await folder.open("inside.txt", "file")).close();
  });
});

function toolNamed(name: string): Tool {
  const tool = fileTools({ root }).find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`Unknown tool ${name}.`);
  return tool;
}

/** Nothing of a sentinel was read: its bytes are not there, and its time of access is as it was set. */
function checkUntouched(text: string): void {
  expect(text).not.toContain(canary);
  for (const sentinel of sentinels) expect(statSync(sentinel).atimeMs).toBe(0);
}
