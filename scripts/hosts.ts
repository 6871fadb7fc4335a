/** Compares the tables of docs/hosts.md with the results of the suite for hosts; with `--update` it writes them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readHostResults } from "./host-results.ts";
import { hostTables } from "./host-tables.ts";

const path = join(import.meta.dirname, "../docs/hosts.md");
const page = readFileSync(path, "utf8");
const updated = hostTables(page, readHostResults());
if (process.argv.includes("--update")) writeFileSync(path, updated);
else if (page !== updated) {
  console.error("docs/hosts.md differs from docs/hosts-results.json. Run scripts/hosts.ts --update.");
  process.exitCode = 1;
}
