import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { processHost } from "./process-host.ts";
import { runCli } from "./run-cli.ts";

/** What the agent is asked, in order, and what each task shows. */
const tasks: readonly (readonly [shows: string, task: string])[] = [
  ["One tool. The answer is streamed.", "What is (2^10 - 24) / 8?"],
  [
    "Three tools that do not depend on each other: one turn calls all of them, and they run in parallel.",
    'List the files in packages/moorex/src, read packages/moorex/package.json and search packages/agent/src for "createMoorex("',
  ],
  [
    "A chain: what the first call finds, the second one reads.",
    'Search packages/moorex/src for "export function createMoorex", then read the first one.',
  ],
  [
    "A failure is data: the tool fails, the agent reads why, and the loop continues to its answer.",
    "Calculate 1 / (3 - 3).",
  ],
];

const folder = mkdtempSync(join(tmpdir(), "moora-demo-"));
const log = ["--log", join(folder, "demo.db")];
const root = join(import.meta.dirname, "../../../..");

// In a demonstration, tool calls are part of the output.
const host = { ...processHost(), env: {}, stderr: process.stdout };

async function show(title: string, args: readonly string[], lines: readonly string[] = []): Promise<void> {
  process.stdout.write(`\n# ${title}\n\n`);
  const code = await runCli([...args, ...log], { ...host, stdin: Readable.from(lines) });
  if (code !== 0) process.exitCode = code;
}

for (const [shows, task] of tasks) process.stdout.write(`${shows}\n> ${task}\n`);
await show(
  "A conversation about this repository: lines with -> and <- are tool calls as they start and finish",
  ["chat", "--session", "demo", "--root", root],
  tasks.map(([, task]) => `${task}\n`),
);
await show("Every record, with the moves along the control graph", ["log", "demo"]);
await show("The same again, without model and tools: each record gives the state that it gave", [
  "verify",
  "demo",
]);
rmSync(folder, { recursive: true });
