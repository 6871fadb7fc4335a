import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Agent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, fails } from "@moora/llm/testing";
import { Page } from "@moora/testbed/page";
import { agentOf } from "@moora/testbed/server/agent-of";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createAgentServer } from "../src/index.ts";
import { serve } from "../src/node.ts";
import { pay } from "./chat-scene.ts";

const root = resolve(import.meta.dirname, "../../..");
const documentation = new Page("docs/ag-ui.md");
const files = ["ag-ui.ts", "run.ts", "answer.ts"];

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
    const logged = await run("run.ts", agentOf([answers("It is 80.")]));
    expect(logged).toEqual([expect.objectContaining({ content: "It is 80." })]);
  });

  it("approve a call, and get the answer", async () => {
    const paid: unknown[] = [];
    const script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("It is paid.")];
    const logged = await run("answer.ts", agentOf(script, { tools: [pay(paid)] }));
    expect(logged).toEqual(['pay({"cents":5})', expect.objectContaining({ content: "It is paid." })]);
    expect(paid).toEqual([{ cents: 5 }]);
  });

  it("report why a run has failed", async () => {
    const logged = await run("answer.ts", agentOf([fails("auth", { message: "No model." })]));
    expect(logged[0]).toBe("The run has failed: No model.");
  });
});

/** Runs a program at a server of an agent. Returns what it logs. */
async function run(name: string, agent: Agent): Promise<readonly unknown[]> {
  const server = createAgentServer({ agents: [agent], log: memoryLog() });
  const { url, close } = await serve(server, { port: 0 });
  const logged: unknown[] = [];
  const methods = (["log", "error"] as const).map((method) =>
    vi.spyOn(console, method).mockImplementation((value) => void logged.push(value)),
  );
  try {
    const file = join(folder, `${crypto.randomUUID()}.ts`);
    writeFileSync(file, documentation.block(`ts file=${name}`).replace("http://localhost:8080", url));
    await import(/* @vite-ignore */ file);
    return logged;
  } finally {
    for (const method of methods) method.mockRestore();
    await close();
  }
}
