import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../scripts/workspace.ts";

/** What each example says last. An example without a line here fails. */
const lastWords: Readonly<Record<string, RegExp>> = {
  "approval.ts": /^I have refunded 50 euros for order 7\.$/,
  "by-hand.ts": /^2 \+ 2 is 4\.$/,
  "kill-and-resume.ts":
    /^12 kills: every call has its result, every payment was made once, no mail ran twice\.$/,
  "custom-state.ts": /^It is 12\. \(step 2\)$/,
};

const examples = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".ts"));

describe("every example", () => {
  it.each(examples)("%s runs to its last words", async (name) => {
    const { code, output } = await run(join(root, "examples", name));
    expect(code, output).toBe(0);
    expect(output.trim().split("\n").at(-1)).toMatch(
      lastWords[name] ?? /^this example has no line in the test$/,
    );
  });
});

const run = (file: string): Promise<{ code: number | null; output: string }> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ["--conditions=@moora/source", file], { cwd: root });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.on("close", (code) => resolve({ code, output }));
  });
