import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { build, type Rolldown } from "vite";
import { describe, expect, it } from "vitest";
import { root } from "../scripts/workspace.ts";

const talking = `
import { defineAgent, openSession } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";

export async function talk() {
  const agent = defineAgent({ llm: new MockLlmCaller([answers("Hi.")]) });
  const session = await openSession(agent, { log: memoryLog(), id: "ada" });
  const { text } = await session.ask("Hello?");
  const { owner } = session.info();
  await session.close();
  return { text, owner };
}`;

/** What a browser has and this code may use. */
const browser = {
  AbortController,
  AbortSignal,
  clearInterval,
  clearTimeout,
  console,
  crypto,
  DOMException,
  queueMicrotask,
  setInterval,
  setTimeout,
  structuredClone,
  TextEncoder,
  URL,
};

async function bundle(
  source: string,
): Promise<{ readonly code: string; readonly warnings: readonly string[] }> {
  const folder = mkdtempSync(join(root, ".bundle-"));
  const warnings: string[] = [];
  try {
    const entry = join(folder, "entry.ts");
    writeFileSync(entry, source);
    const result = await build({
      root,
      configFile: false,
      logLevel: "silent",
      resolve: { conditions: ["@moora/source", "import", "module", "browser", "default"] },
      build: {
        write: false,
        minify: false,
        lib: { entry, formats: ["iife"], name: "bundled" },
        rollupOptions: { onwarn: ({ message }) => void warnings.push(message) },
      },
    });
    const outputs: readonly Rolldown.RolldownOutput[] = Array.isArray(result)
      ? result
      : "output" in result
        ? [result]
        : [];
    const code = outputs.flatMap(({ output }) => output.map((file) => ("code" in file ? file.code : "")));
    return { code: code.join(""), warnings };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("@moora/client in a bundle for browsers", () => {
  it("imports nothing of Node", async () => {
    const { code, warnings } = await bundle('export { connectSession } from "@moora/client";');
    expect(warnings).toEqual([]);
    expect(code).not.toMatch(/\brequire\(|\bimport\s*\(|^import /m);
    const context = createContext({ ...browser });
    expect(runInContext(`${code}; typeof bundled.connectSession`, context)).toBe("function");
  });
});

describe("@moora/agent in a bundle for browsers", () => {
  it("imports nothing of Node, and holds a session in a log where there is no process", async () => {
    const { code, warnings } = await bundle(talking);
    expect(warnings).toEqual([]);
    expect(code).not.toMatch(/\brequire\(|\bimport\s*\(|^import /m);
    const context = createContext({ ...browser });
    const talked: unknown = await runInContext(`${code}; bundled.talk()`, context);
    expect(talked).toEqual({ text: "Hi.", owner: expect.stringMatching(/^host_[0-9a-f]+$/) });
  });
});
