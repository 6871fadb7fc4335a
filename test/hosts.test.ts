import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { spawnSync } from "node:child_process";
import { knownHosts } from "@moora/testbed/hosts";
import { PostgresServer } from "@moora/testbed/postgres/server";
import { describe, expect, it } from "vitest";
import { hostTables } from "../scripts/host-tables.ts";
import { root } from "../scripts/workspace.ts";

const folder = join(root, "examples/hosts");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

describe("the page about hosts", () => {
  const page = read("docs/hosts.md");

  it("has the table of hosts and cases that the suite gives", () => {
    expect(hostTables(page)).toBe(page);
  });

  it.each(knownHosts)("names the test that runs the suite on the host $name", ({ test }) => {
    expect(read(test)).toContain("hostConformance(");
  });
});

describe("one agent on every host", () => {
  const starters = globSync(join(folder, "*.ts")).filter((path) => basename(path) !== "agent.ts");

  it("has a program for each kind of host", () => {
    expect(starters.length).toBeGreaterThan(3);
  });

  it.each(starters.map((path) => ({ name: basename(path), text: readFileSync(path, "utf8") })))(
    "$name runs the one agent file, in at most 20 lines",
    ({ text }) => {
      expect(text).toMatch(/import \{ agent \} from "\.\/agent\.ts";/);
      expect(text).not.toMatch(/defineAgent|defineTool/);
      expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
    },
  );

  /** Runs a program and returns what it prints. */
  function run(name: string, env: Readonly<Record<string, string>> = {}): string {
    const args = ["--conditions=@moora/source", join(folder, name)];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: "utf8",
      env: { ...process.env, ...env },
    });
    expect(status, stderr).toBe(0);
    return stdout;
  }

  const answer = "It is -3 degrees in Oslo.\n";

  it("gives the same answer in memory, in SQLite and in PostgreSQL", async () => {
    await using server = await PostgresServer.start();
    const answers = [run("memory.ts"), run("sqlite.ts"), run("postgres.ts", { DATABASE_URL: server.url })];
    expect(answers).toEqual([answer, answer, answer]);
  });
});
