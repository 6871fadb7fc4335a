import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TemporaryDirectory } from "@moora/testbed/stores";

const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
const fences = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code);

/** Runs code as a module of this package, so that its name resolves to its sources. */
function outputOf(code: string): string {
  using temporary = new TemporaryDirectory();
  const script = `process.chdir(${JSON.stringify(temporary.path)});\n${code}`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--conditions=@moora/source", "--input-type=module-typescript", "--eval", script],
    { cwd: join(import.meta.dirname, ".."), encoding: "utf8" },
  );
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout;
}

describe("the README", () => {
  it("has an example of a log and one of the suite", () => {
    expect(fences).toHaveLength(2);
  });

  it("shows how to append a record", () => {
    expect(outputOf(fences[0] ?? "")).toBe("the log ends at 1\n");
  });

  it("shows how to run the suite", () => {
    const lines = outputOf(fences[1] ?? "")
      .trim()
      .split("\n");
    expect(lines.length).toBeGreaterThan(150);
    for (const line of lines) expect(line).toMatch(/^ok: /);
  });
});
