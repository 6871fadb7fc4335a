import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createDatabase } from "@moora/testbed/postgres/database";
import { graphToMermaid } from "@moora/agent-core-state-machine";
import { root } from "../scripts/workspace.ts";

/** Programs of the documentation: every `ts` fence is a module that compiles and runs. */
const pages = globSync(["*.md", "docs/*.md", "packages/*/README.md", "examples/*.md", "bench/*.md"], {
  cwd: root,
}).toSorted();
const folder = mkdtempSync(join(root, ".fences-"));

interface Fence {
  readonly page: string;
  readonly title: string;
  readonly file: string;
  readonly code: string;
}

const fences: readonly Fence[] = pages.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match, index) => ({
    page,
    title: `${page}, program ${index + 1}`,
    file: join(folder, `${page.replaceAll(/[^A-Za-z0-9]+/g, "-")}-${index + 1}.ts`),
    code: match[1] ?? "",
  })),
);

let provider: LLMock;
let databaseUrl: string;

beforeAll(async () => {
  for (const { file, code } of fences) writeFileSync(file, `${code}\nexport {};\n`);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../tsconfig.json", files: fences.map(({ file }) => file) }),
  );
  provider = await LLMock.create({ port: 0 });
  databaseUrl = await createDatabase(inject("postgresUrl"));
  provider.on({ predicate: () => true }, { content: "Hello from the model." });
});

afterAll(async () => {
  await provider.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("the documentation", () => {
  it("has a page for every package", () => {
    for (const page of globSync("packages/*", { cwd: root }))
      expect(existsSync(join(root, page, "README.md")), page).toBe(true);
  });

  it("compiles", () => {
    const { stdout, status } = spawnSync("tsc", ["-p", folder], { cwd: root, encoding: "utf8" });
    expect(status, stdout).toBe(0);
  });

  it.each(pages.filter((page) => page.endsWith("README.md")))(
    "%s installs what its programs import",
    (page) => {
      const text = readFileSync(join(root, page), "utf8");
      const installed = [...text.matchAll(/^npm install (?:--save-dev )?([^#\n]*)/gm)].flatMap(
        ([, names = ""]) => names.split(" "),
      );
      const imported = fences.filter((fence) => fence.page === page).flatMap(({ code }) => packagesIn(code));
      expect(installed).toEqual(expect.arrayContaining(imported));
    },
  );

  it.each(fences)("$title runs", async ({ file }) => {
    const { code, output } = await run(file);
    expect(code, output).toBe(0);
  });

  it("shows the control graph as it is", () => {
    const architecture = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
    expect(architecture).toContain(`\`\`\`mermaid\n${graphToMermaid()}\n\`\`\``);
  });

  it("speaks of no path of a machine", () => {
    for (const page of pages)
      expect(readFileSync(join(root, page), "utf8"), page).not.toMatch(/\/(?:home|root|work|Users)\//);
  });
});

/** The names of the packages that a program imports, Node's own modules and the test runner left out. */
const packagesIn = (code: string): readonly string[] =>
  [...code.matchAll(/ from "((?:@[^/"]+\/)?[^/"]+)/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !name.startsWith("node:") && name !== "vitest");

/** Providers are asked at the loopback address, with a key that opens nothing. */
const run = (file: string): Promise<{ code: number | null; output: string }> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ["--conditions=@moora/source", file], {
      cwd: folder,
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        OPENAI_BASE_URL: `${provider.url}/v1`,
        OPENAI_API_KEY: "none",
        ANTHROPIC_BASE_URL: provider.url,
        ANTHROPIC_API_KEY: "none",
      },
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.on("close", (code) => resolve({ code, output }));
  });
