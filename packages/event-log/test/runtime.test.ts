import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TemporaryDirectory } from "@moora/testbed/stores";

const source = join(import.meta.dirname, "../src");

/** Runs a program in a child process and returns its output. */
function run(program: string, ...args: readonly string[]) {
  using temporary = new TemporaryDirectory();
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...args, "--input-type=module-typescript", "--eval", program],
    { cwd: temporary.path, encoding: "utf8" },
  );
  return { stdout: stdout.trim(), stderr: stderr.trim(), status };
}

const load = (module: string): string => JSON.stringify(join(source, module));

describe("a SQLite log", () => {
  it("is imported without node:sqlite, and says what is missing when it is used", () => {
    const program = `
      import { LogError } from ${load("index.ts")};
      import { sqliteLog } from ${load("sqlite.ts")};
      process.getBuiltinModule = () => undefined;
      try {
        sqliteLog("log.db");
      } catch (error) {
        console.log(error instanceof LogError, error.code, error.message.includes("Node.js 22.13"), error.message.includes(process.version));
      }`;
    expect(run(program)).toEqual({ stdout: "true UnsupportedRuntime true true", stderr: "", status: 0 });
  });

  it("suppresses the warning of some Node.js versions that SQLite is experimental, and no other warning", () => {
    const program = `
      import { sqliteLog } from ${load("sqlite.ts")};
      const load = process.getBuiltinModule;
      process.getBuiltinModule = (name) => {
        process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
        process.emitWarning("another feature is, too", "ExperimentalWarning");
        return load(name);
      };
      sqliteLog("log.db").close();
      process.emitWarning("SQLite is used", "ExperimentalWarning");`;
    const { stdout, stderr, status } = run(program);
    expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
    expect(stderr).not.toContain("might change at any time");
    expect(stderr).toContain("another feature is, too");
    expect(stderr).toContain("SQLite is used");
  });

  it("ends a failed transaction, also on a Node.js without `isTransaction`", () => {
    const program = `
      import { DatabaseSync } from "node:sqlite";
      import { sqliteLog } from ${load("sqlite.ts")};
      import { appendBodies } from ${load("testing/index.ts")};
      delete DatabaseSync.prototype.isTransaction;
      const openDatabase = (file, options) =>
        new Proxy(new DatabaseSync(file, options), {
          get(database, name) {
            if (name === "isTransaction") return undefined;
            const value = Reflect.get(database, name);
            return typeof value === "function" ? value.bind(database) : value;
          },
        });
      const log = sqliteLog("log.db", { openDatabase });
      const session = log.create("a", "{}");
      await appendBodies(session, "{}");
      try { session.append(0, []); } catch (error) { console.log(error.code); }
      console.log((await appendBodies(session, "{}")).length, session.head());`;
    expect(run(program)).toMatchObject({ stdout: "Conflict\n1 2", status: 0 });
  });
});
