import { defaultClientConditions, defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";
import projects from "./vitest.workspace.ts";

const source = "@moora/source";

/** The file for the counts of a run, so that a script can add them up. */
const report = process.env["MOORA_TEST_REPORT"];

export default defineConfig({
  resolve: { conditions: [source, ...defaultClientConditions] },
  ssr: { resolve: { conditions: [source, ...defaultServerConditions] } },
  test: {
    projects,
    // Limits for what hangs: a loaded machine takes several times what a test needs.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // Many tests wait for other processes: one worker a core, where the default leaves a core to the terminal.
    maxWorkers: "100%",
    // The names of a suite's cases say what is kept: they are shown as a whole.
    taskTitleValueFormatTruncate: 200,
    ...(report === undefined ? {} : { reporters: ["default", ["json", { outputFile: report }]] }),
    execArgv: [`--conditions=${source}`],
    coverage: { provider: "v8", include: ["**/src/**"], reporter: ["text", "json-summary"] },
  },
});
