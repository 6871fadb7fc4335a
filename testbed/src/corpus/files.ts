import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where the corpus lies: sessions as `exportSession` writes them, and the digests of their positions, one a line. */
export const corpus: string = join(import.meta.dirname, "../../../corpus");

export const sessionFile = (name: string): string => join(corpus, "sessions", `${name}.jsonl`);

export const digestsFile = (name: string): string => join(corpus, "digests", `${name}.txt`);

/** The names of all recorded sessions. */
export const recordedNames = (): readonly string[] =>
  readdirSync(join(corpus, "sessions"))
    .map((file) => file.replace(/\.jsonl$/, ""))
    .toSorted();

export const goldenText = (name: string): string => readFileSync(sessionFile(name), "utf8");

export const goldenPositions = (name: string): readonly string[] =>
  readFileSync(digestsFile(name), "utf8").trimEnd().split("\n");
