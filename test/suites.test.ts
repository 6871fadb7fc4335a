import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../scripts/workspace.ts";

/** What starts a database, an engine, a runtime or a browser. */
const services = [
  "testbed/src/browser.ts",
  "testbed/src/postgres/database.ts",
  "testbed/src/postgres/server.ts",
  "packages/restate/test/restate-server.ts",
  "packages/cloudflare/test/workerd.ts",
];

const testbed = "@moora/testbed/";

/** The files of this repository that a file imports the values of. */
function importsOf(file: string): readonly string[] {
  const source = readFileSync(join(root, file), "utf8");
  const found = source.matchAll(/^(?:import|export) (?!type )[^;]*?from "([^"]+)";$/gm);
  return [...found].flatMap(([, name = ""]) => {
    if (name.startsWith(testbed)) return [`testbed/src/${name.slice(testbed.length)}.ts`];
    return name.startsWith(".") ? [relative(root, join(root, dirname(file), name))] : [];
  });
}

/** The services that a file can start, through whatever it imports. */
function servicesOf(file: string, seen = new Set<string>()): readonly string[] {
  const isOfTests = file.startsWith("testbed/") || !file.includes("/src/");
  // A page in a test may import a file that the test writes.
  if (seen.has(file) || !isOfTests || !existsSync(join(root, file))) return [];
  seen.add(file);
  if (services.includes(file)) return [file];
  return importsOf(file).flatMap((imported) => servicesOf(imported, seen));
}

describe("the everyday tests", () => {
  const files = globSync("{packages/*/,}test/**/*.test.{ts,tsx}", { cwd: root });
  const withServices = files.filter((file) => servicesOf(file).length > 0);

  it("start no service: a test that does is named *.long.test.ts", () => {
    expect(withServices.filter((file) => !file.includes(".long.test."))).toEqual([]);
  });

  it.each(services.slice(1))("are distinguished from those that start %s", (service) => {
    expect(withServices.flatMap((file) => servicesOf(file))).toContain(service);
  });
});
