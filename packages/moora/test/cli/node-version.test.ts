import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeProblem } from "../../src/cli/node-version.ts";
import { Child, source } from "./child.ts";

describe("an old release of Node", () => {
  it.each(["18.20.8", "20.20.2", "22.0.0", "22.12.0"])("%s is rejected in one line", (version) => {
    expect(nodeProblem(version)).toBe(`moora needs Node 22.13 or newer, this is ${version}.`);
  });

  it.each(["22.13.0", "22.23.1", "23.0.0", "24.21.0", "25.0.0-nightly2026"])("%s is accepted", (version) => {
    expect(nodeProblem(version)).toBeUndefined();
  });

  it.each([[join(source, "main.ts")], [join(source, "../../bin/moora.js")]])(
    "is rejected by %s before anything else is loaded",
    async (script) => {
      const child = new Child(["run", "2+2"], undefined, [...pretending("20.20.2"), script]);
      expect(await child.ended()).toBe(2);
      expect(child.stderr).toBe("moora needs Node 22.13 or newer, this is 20.20.2.\n");
      expect(child.stdout).toBe("");
    },
  );

  it("is rejected by a file that imports only the check and the manifest", () => {
    const imports = readFileSync(join(source, "main.ts"), "utf8").match(/^import .*$/gm);
    expect(imports).toEqual([
      'import manifest from "../../package.json" with { type: "json" };',
      'import { nodeProblem } from "./node-version.ts";',
    ]);
    expect(readFileSync(join(source, "node-version.ts"), "utf8")).not.toContain("import");
  });
});

/** Options of Node that let the process take itself for another release. */
const pretending = (version: string): readonly string[] => [
  "--conditions=@moora/source",
  "--import",
  `data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: ${JSON.stringify(version)} } })`,
];
