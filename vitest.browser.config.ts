import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

const { projects: _, ...test } = base.test ?? {};

/** The tests that need Chromium: `pnpm run test:browser`. `CHROMIUM_PATH` names one that is not on the path. */
export default defineConfig({
  ...base,
  test: {
    ...test,
    include: ["packages/*/test-browser/**/*.test.ts", "examples/*/test-browser/**/*.test.ts"],
    // Some share what their tools have done.
    isolate: true,
    // More browsers at the same time slow each other down.
    maxWorkers: 2,
  },
});
