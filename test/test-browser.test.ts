import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../scripts/workspace.ts";

/** Runs the script where there is no Chromium. */
function run(variables: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { CI: _, ...env } = process.env;
  return spawnSync(
    process.execPath,
    ["--conditions=@moora/source", join(root, "scripts/test-browser.ts"), ...args],
    {
      encoding: "utf8",
      env: { ...env, CHROMIUM_PATH: join(root, "missing"), ...variables },
    },
  );
}

describe("the browser tests without Chromium", () => {
  it("do not run, and say how to get it", () => {
    const { status, stderr } = run({});
    expect(stderr).toContain("Not run. The browser tests need Chromium.");
    expect(status).toBe(0);
  });

  it("fail in CI, and where they are required", () => {
    for (const { status, stderr } of [run({ CI: "true" }), run({ CI: "1" }), run({}, "--required")]) {
      expect(stderr).toContain("Not run.");
      expect(status).toBe(1);
    }
    expect(run({ CI: "false" }).status).toBe(0);
  });
});
