import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { memoryLog } from "@moora/event-log";
import { answers } from "@moora/llm/testing";
import { Page } from "@moora/testbed/page";
import { agentOf } from "@moora/testbed/server/agent-of";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createAgentServer } from "../src/index.ts";
import { serve } from "../src/node.ts";

const root = resolve(import.meta.dirname, "../../..");
const documentation = new Page("docs/ag-ui.md");
const files = ["ag-ui.ts", "run.ts"];

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(import.meta.dirname, ".fences-"));
  for (const file of files) writeFileSync(join(folder, file), documentation.block(`ts file=${file}`));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe("the programs of the page about AG-UI", () => {
  it("compile", () => {
    const config = {
      extends: "../../tsconfig.json",
      compilerOptions: { lib: ["es2024", "dom", "esnext.disposable"] },
      files,
      include: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
    expect(stdout).toBe("");
  });

  it("run an agent", async () => {
    const { url, close } = await serve(
      createAgentServer({ agents: [agentOf([answers("It is 80.")])], log: memoryLog() }),
      { port: 0 },
    );
    const log = vi.spyOn(console, "log").mockReturnValue();
    try {
      const file = join(folder, "run-here.ts");
      writeFileSync(file, documentation.block("ts file=run.ts").replace("http://localhost:8080", url));
      await import(/* @vite-ignore */ file);
      expect(log).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ content: "It is 80." }));
    } finally {
      log.mockRestore();
      await close();
    }
  });
});
