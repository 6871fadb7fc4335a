import { join } from "node:path";
import { defaultClientConditions, defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

const source = "@moora/source";

/** The folder for the counts of a run, in a file named for its script, so that another script can add them up. */
const reports = process.env["MOORA_TEST_REPORTS"];

const tests = ["packages/*/test/**/*.test.{ts,tsx}", "test/**/*.test.{ts,tsx}"];
const longTests = tests.map((pattern) => pattern.replace(".test.", ".long.test."));

export default defineConfig({
  resolve: { conditions: [source, ...defaultClientConditions] },
  ssr: { resolve: { conditions: [source, ...defaultServerConditions] } },
  test: {
    projects: [
      // What needs no database and no engine, and takes less than five seconds a file: `pnpm run test`.
      {
        extends: true,
        test: { name: "short", include: tests, exclude: ["**/node_modules/**", ...longTests] },
      },
      {
        extends: true,
        test: {
          name: "long",
          include: longTests,
          globalSetup: ["testbed/src/postgres/server-of-the-run.ts"],
        },
      },
    ],
    // The files of a worker share their modules, so that it imports each of them once. No test may leave a module changed.
    isolate: false,
    // Limits for what hangs: a loaded machine takes several times what a test needs.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Many tests wait for other processes: one worker a core, where the default leaves a core to the terminal.
    maxWorkers: "100%",
    // What a test that passes prints, such as an error that it expects, is not shown.
    silent: "passed-only",
    // The names of a suite's cases say what is kept: they are shown as a whole.
    taskTitleValueFormatTruncate: 200,
    ...(reports === undefined
      ? {}
      : {
          reporters: [
            "default",
            ["json", { outputFile: `${reports}/${process.env["npm_lifecycle_event"]}.json` }],
          ],
        }),
    execArgv: [`--conditions=${source}`],
    // Processes that tests start load the sources as JavaScript that an earlier one has compiled.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/node") },
    coverage: { provider: "v8", include: ["**/src/**"], reporter: ["text", "json-summary"] },
  },
});
