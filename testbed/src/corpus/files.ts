import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rulesVersion } from "@moora/agent-core-state-machine";

/** Where the corpus lies: a folder for each version of the rules, which stays as the last release with these rules has recorded it. */
const corpus: string = join(import.meta.dirname, "../../../corpus");

/** The folder of the sessions that were recorded by these rules. */
export const corpusOf = (rules: number = rulesVersion): string => join(corpus, `rules-${rules}`);

/** A recorded session, as `exportSession` writes it. */
export const sessionFile = (name: string, rules?: number): string =>
  join(corpusOf(rules), "sessions", `${name}.jsonl`);

/** The digests of the state and the effects at each position of a session, one position a line. */
export const digestsFile = (name: string, rules?: number): string =>
  join(corpusOf(rules), "digests", `${name}.txt`);

/** The versions of the rules of which there is a corpus. */
export const recordedRules = (): readonly number[] =>
  readdirSync(corpus)
    .flatMap((folder) => /^rules-(\d+)$/.exec(folder)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);

/** The names of all sessions that were recorded by these rules. */
export const recordedNames = (rules?: number): readonly string[] =>
  readdirSync(join(corpusOf(rules), "sessions"))
    .map((file) => file.replace(/\.jsonl$/, ""))
    .toSorted();

export const goldenText = (name: string, rules?: number): string =>
  readFileSync(sessionFile(name, rules), "utf8");

export function goldenPositions(name: string, rules?: number): readonly string[] {
  const file = digestsFile(name, rules);
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}
