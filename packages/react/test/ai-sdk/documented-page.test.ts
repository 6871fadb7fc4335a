import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Page } from "@moora/testbed/page";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../../..");

it("the programs of the page about chats compile", () => {
  const folder = mkdtempSync(join(import.meta.dirname, ".fences-"));
  try {
    const page = new Page("docs/chats.md");
    writeFileSync(join(folder, "chat.tsx"), page.block("tsx"));
    writeFileSync(join(folder, "alone.tsx"), page.block("tsx alone"));
    writeFileSync(join(folder, "server.ts"), page.block("ts file=server.ts"));
    const files = ["chat.tsx", "alone.tsx", "server.ts"];
    const config = { extends: "../../../tsconfig.json", files, include: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder, "--noEmit"], {
      encoding: "utf8",
    });
    expect(stdout).toBe("");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
