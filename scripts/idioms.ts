/**
 * Checks idioms that the linter has no rule for. Prints one line for each finding and exits with 1 if there is one.
 * Private members are `#field`: `private` is kept for constructors only, which have no other form.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, writtenFiles } from "./workspace.ts";

/** The lines, from 1, with a `private` member. */
export const privateMembersIn = (text: string): readonly number[] =>
  text
    .split("\n")
    .flatMap((line, index) => (/^\s+private (?!constructor\b)[\w\s]*\w/.test(line) ? [index + 1] : []));

function main(): void {
  for (const file of writtenFiles()) {
    if (file.endsWith(".md")) continue;
    for (const line of privateMembersIn(readFileSync(join(root, file), "utf8"))) {
      console.log(`${file}:${line}: a private member: write #name instead.`);
      process.exitCode = 1;
    }
  }
}

if (import.meta.main) main();
