import { linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { excludeFromFileTools, fileTools } from "../src/index.ts";
import { runTool, textOf } from "./run-tool.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
  writeFileSync(place.at("key"), "open");
});
afterEach(() => place[Symbol.dispose]());

const readerOf = (tools: ReturnType<typeof fileTools>) => {
  const read = tools.find(({ name }) => name === "read_file");
  if (read === undefined) throw new Error("There is no read_file.");
  return async (path: string): Promise<string> => textOf(await runTool(read, { path }));
};

describe("excludeFromFileTools", () => {
  it("excludes paths from tools that exist already, until it is ended", async () => {
    const read = readerOf(fileTools({ root: place.path }));
    linkSync(place.at("key"), place.at("hard"));
    const first = excludeFromFileTools([place.at("key")]);
    const second = excludeFromFileTools([place.at("key")]);
    for (const path of ["key", "hard"]) expect(await read(path)).toContain("is excluded");
    expect(() => fileTools({ root: place.path })).not.toThrow();
    first();
    expect(await read("key")).toContain("is excluded");
    second();
    expect(await read("key")).toContain("open");
  });

  it("excludes paths from the tools of another copy of this package", async () => {
    vi.resetModules();
    const copy = await import("../src/index.ts");
    expect(copy.fileTools).not.toBe(fileTools);
    const read = readerOf(copy.fileTools({ root: place.path }));
    const end = excludeFromFileTools([place.at("k*")]);
    expect(await read("key")).toContain("is excluded");
    end();
  });

  it("excludes where a link leads, also when it leads elsewhere later", async () => {
    for (const version of ["v1", "v2"]) {
      mkdirSync(place.at(version));
      writeFileSync(place.at(version, "key"), "open");
    }
    symlinkSync("v1", place.at("current"));
    const read = readerOf(fileTools({ root: place.path }));
    const end = excludeFromFileTools([place.at("current", "key")]);
    symlinkSync("v2", place.at("next"));
    renameSync(place.at("next"), place.at("current"));
    for (const path of ["current/key", "v1/key", "v2/key"]) expect(await read(path)).toContain("is excluded");
    end();
  });

  it("refuses a root that is excluded", () => {
    const end = excludeFromFileTools([place.path]);
    expect(() => fileTools({ root: place.path })).toThrow(/is excluded, and cannot be the root\.$/);
    end();
  });
});
