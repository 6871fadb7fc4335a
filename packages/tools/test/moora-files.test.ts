import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileTools } from "../src/file-tools.ts";
import { runTool, textOf } from "./run-tool.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

const canary = "canary-2b9d";
const name = `ada-${"0f".repeat(16)}`;
const digest = "0f".repeat(32);
const word = "A".repeat(22);
const header = `{"format":1,"generation":"${word}","id":"ada","header":"${canary}"}\n`;

/** Files that are recognized by their names, whatever they contain. */
const named: Readonly<Record<string, string>> = {
  [`old/${name}.jsonl`]: canary,
  [`old/${name}.snapshot`]: canary,
  [`old/${name}.lease.new`]: canary,
  [`old/blobs/${digest}`]: canary,
  [`old/.locks/${name}.holder`]: canary,
  "old/.mcp-secret": canary,
  "s.db.mcp-secret": canary,
  "s.db.mcp-secret.3f.new": canary,
  "sub/.MOORA/notes.txt": canary,
  "sub/.Mcp-\u017fecret": canary,
  [`sub/${name.toUpperCase()}.JSONL`]: canary,
};

/** Files that are recognized by what they contain, whatever their names are. */
const recognized: Readonly<Record<string, string>> = {
  "copy.bak": header,
  "newer.txt": header.replace('"format":1', '"format":12'),
  "removed.txt": `{"format":1,"removed":"${word}","id":"ada","digest":"${canary}"}\n`,
  "state.txt": `${word} ${word}\n{"seq":3}\n${canary}`,
  "keys/mcp": `moora-mcp-secret-${canary}\n`,
  "people.json": `{ "users": [{ "user": "ada", "token": "${canary}" }] }`,
  "digests.json": `\n{"users":[\n{"user":"ada","mayReadMetrics":true,"tokenSha256":"${canary}"}]}`,
  "escaped.json": `{"\\u0075sers":[{"user":"ada","\\u0074oken\\u0053ha256":"${canary}"}]}`,
  "far.json": `${"\r\n\t ".repeat(5_000)}{${"\n".repeat(5_000)}"users":[{"user":"ada","token":"${canary}"}]}`,
  "half.json": `{"users":[{"user":"ada","token":"${canary}"`,
  "late.json": `{"users":[{"user":"${"a".repeat(20_000)}","token":"${canary}"}]}`,
};

const open: Readonly<Record<string, string>> = {
  "rows.jsonl": `{"format":1,"rows":["${canary}"]}\n`,
  "names.json": `{"users":[{"user":"${canary}"}]}`,
  "blobs/readme.txt": canary,
  [`sums/${digest}`]: canary,
  [`s.db.tools/${"0f".repeat(16)}.json`]: canary,
  "mcp-secret.md": canary,
};

const place = new TemporaryFolder();
beforeAll(() => {
  for (const [path, text] of Object.entries({ ...named, ...recognized, ...open })) {
    mkdirSync(dirname(place.at(path)), { recursive: true });
    writeFileSync(place.at(path), text);
  }
  linkSync(place.at("copy.bak"), place.at("hard.txt"));
  symlinkSync(`old/${name}.jsonl`, place.at("link.txt"));
  symlinkSync("old", place.at("linked"));
  writeFileSync(place.at("large.txt"), header + " ".repeat(10_000_000));
});
afterAll(() => place[Symbol.dispose]());

async function run(tool: string, input: object): Promise<string> {
  const found = fileTools({ root: place.path }).find((candidate) => candidate.name === tool);
  if (found === undefined) throw new Error(`Unknown tool ${tool}.`);
  return textOf(await runTool(found, input));
}

const hidden = [
  ...Object.keys(named),
  ...Object.keys(recognized),
  "hard.txt",
  "link.txt",
  `linked/${name}.jsonl`,
  "large.txt",
  "sub/../copy.bak",
];

describe("files of Moora", () => {
  it.each(hidden)("are not read, without any option: %s", async (path) => {
    expect(await run("read_file", { path })).toBe(`"${path}" is excluded: it must not be read.`);
    expect(await run("search_files", { path, query: "canary" })).not.toContain(canary);
  });

  it.each(Object.keys(open))("are not mistaken for others: %s", async (path) => {
    expect(await run("read_file", { path })).toContain(canary);
  });

  it("are left out of searches, and of lists where their names show what they are", async () => {
    const found = await run("search_files", { query: "canary" });
    expect(
      found
        .split("\n")
        .slice(1)
        .map((line) => line.split(":", 1)[0]),
    ).toEqual(expect.arrayContaining(Object.keys(open)));
    expect(found).toMatch(/^6 lines match /);
    const list = await run("list_files", { recursive: true });
    for (const path of Object.keys(named)) expect(list).not.toContain(path);
    for (const path of Object.keys(open)) expect(list).toContain(path);
  });
});
