import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { excludeFromFileTools, fileTools } from "../src/index.ts";
import { runTool, textOf } from "./run-tool.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

const place = new TemporaryFolder();
const files = [".env", "a.key", "deep/.env", "deep/a.key", "deep/er/a.key", "deep/er/b.txt", "open/b.txt"];
const all = [...files, "deep/link.key"];
const content = "content-6d1f";

beforeAll(() => {
  for (const file of files) {
    mkdirSync(dirname(place.at(file)), { recursive: true });
    writeFileSync(place.at(file), content);
  }
  symlinkSync("../open/b.txt", place.at("deep/link.key"));
});
afterAll(() => place[Symbol.dispose]());

/** The paths that are read, and found by a search, with what is excluded. */
async function readable(exclude: readonly string[]): Promise<readonly string[]> {
  const [, read, search] = fileTools({ root: place.path, exclude });
  if (read === undefined || search === undefined) throw new Error("Missing tool.");
  const found: string[] = [];
  for (const path of all) {
    const text = textOf(await runTool(read, { path }));
    const lines = textOf(await runTool(search, { path, query: content }));
    expect(lines.includes(`:1: ${content}`), path).toBe(text.includes(content));
    if (text.includes(content)) found.push(path);
  }
  return found;
}

const without = (...excluded: readonly string[]): readonly string[] =>
  all.filter((path) => !excluded.includes(path));

describe("a relative path of exclude", () => {
  it.each<[string, readonly string[]]>([
    [".env", [".env"]],
    ["./deep/../.env", [".env"]],
    ["deep/.env", ["deep/.env"]],
    ["deep", ["deep/.env", "deep/a.key", "deep/er/a.key", "deep/er/b.txt", "deep/link.key"]],
    ["*.key", ["a.key"]],
    ["deep/*.key", ["deep/a.key", "deep/link.key"]],
    ["*/a.key", ["deep/a.key"]],
    ["d*p/*/a.key", ["deep/er/a.key"]],
    ["*/er", ["deep/er/a.key", "deep/er/b.txt"]],
    ["**/a.key", ["a.key", "deep/a.key", "deep/er/a.key"]],
    ["**/.env", [".env", "deep/.env"]],
    ["deep/**/a.key", ["deep/a.key", "deep/er/a.key"]],
    ["b.txt", []],
  ])("counts from the root: %s", async (path, excluded) => {
    expect(await readable([path])).toEqual(without(...excluded));
  });

  it("counts from the current folder, too", async () => {
    const exclude = [relative(process.cwd(), place.at("deep", "a.key"))];
    const [list] = fileTools({ root: place.at("deep"), exclude });
    if (list === undefined) throw new Error("Missing tool.");
    expect(textOf(await runTool(list, {})).split("\n")).toEqual([
      ".env (12 bytes)",
      "er/",
      "link.key (link)",
    ]);
  });

  it("counts from the root of each tools if it is excluded from all of the process", async () => {
    const end = excludeFromFileTools([".env", "**/a.key"]);
    expect(await readable([])).toEqual(without(".env", "a.key", "deep/a.key", "deep/er/a.key"));
    end();
    expect(await readable([])).toEqual(all);
  });
});

describe("an absolute path of exclude", () => {
  it("may have a pattern in each of its names", async () => {
    expect(await readable([place.at("*", "e*", "a.key")])).toEqual(without("deep/er/a.key"));
    expect(await readable([place.at("**", ".env")])).toEqual(without(".env", "deep/.env"));
  });
});
