import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Page } from "@moora/testbed/page";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../..");

describe("the page about servers", () => {
  it("has a program for `useChat` that compiles", () => {
    const folder = mkdtempSync(join(import.meta.dirname, ".fences-"));
    try {
      writeFileSync(join(folder, "chat.tsx"), new Page("docs/server.md").block("tsx"));
      const compilerOptions = { jsx: "react-jsx", lib: ["es2024", "dom", "esnext.disposable"] };
      const config = { extends: "../../tsconfig.json", compilerOptions, files: ["chat.tsx"], include: [] };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
      const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
      expect(stdout).toBe("");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
