import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Page } from "@moora/testbed/page";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../..");

describe("the page about servers", () => {
  it.each([
    ["`useChat`", "chat.tsx", "tsx"],
    ["AG-UI", "ag-ui.ts", "ts file=ag-ui.ts"],
  ])("has a program for %s that compiles", (_name, file, block) => {
    const folder = mkdtempSync(join(import.meta.dirname, ".fences-"));
    try {
      writeFileSync(join(folder, file), new Page("docs/server.md").block(block));
      const compilerOptions = { jsx: "react-jsx", lib: ["es2024", "dom", "esnext.disposable"] };
      const config = { extends: "../../tsconfig.json", compilerOptions, files: [file], include: [] };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
      const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
      expect(stdout).toBe("");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
