import type { UserConfig } from "tsdown";
import { disposableTypes, library, nodeCheck } from "../../tsdown.shared.ts";

/** The entries that only Node loads. */
const nodeFiles: ReadonlySet<string> = new Set(["jsonl.js", "sqlite.js", "testing.js"]);

const config: UserConfig = library({
  platform: "node",
  banner: ({ fileName }) => ({ ...disposableTypes, ...(nodeFiles.has(fileName) ? nodeCheck : {}) }),
  entry: {
    index: "src/index.ts",
    indexeddb: "src/indexeddb.ts",
    jsonl: "src/jsonl.ts",
    sqlite: "src/sqlite.ts",
    store: "src/store.ts",
    testing: "src/testing/index.ts",
  },
});

export default config;
