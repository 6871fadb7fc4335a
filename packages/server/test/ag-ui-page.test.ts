import { join } from "node:path";
import type { Agent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, fails } from "@moora/llm/testing";
import { Page, Programs, typeErrors } from "@moora/testbed/page";
import { agentOf } from "@moora/testbed/server/agent-of";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createAgentServer } from "../src/index.ts";
import { serve } from "../src/node.ts";
import { pay } from "./chat-scene.ts";

const documentation = new Page("docs/ag-ui.md");
const files = ["ag-ui.ts", "run.ts", "answer.ts"];

let programs: Programs;

beforeAll(() => {
  programs = new Programs(import.meta.dirname);
  for (const file of files) programs.write(file, documentation.block(`ts file=${file}`));
});

afterAll(() => {
  programs[Symbol.dispose]();
});

describe("the programs of the page about AG-UI", () => {
  it("compile", () => {
    const project = {
      extends: join(import.meta.dirname, "../tsconfig.json"),
      compilerOptions: { lib: ["es2024", "dom", "esnext.disposable"] },
    };
    expect(typeErrors(programs, files, project)).toBe("");
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
    const file = `${crypto.randomUUID()}.ts`;
    programs.write(file, documentation.block(`ts file=${name}`).replace("http://localhost:8080", url));
    await import(/* @vite-ignore */ join(programs.path, file));
    return logged;
  } finally {
    for (const method of methods) method.mockRestore();
    await close();
  }
}
