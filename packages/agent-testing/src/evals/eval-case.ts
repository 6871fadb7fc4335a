import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkOptions, refuse, type OptionForms } from "@moora/agent-core-effects/internal";
import type { Json } from "@moora/llm";
import { textToJson } from "@moora/llm/internal";

/** A case of a data set: the messages of a new session, or a recorded session that is run again. */
export interface EvalCase {
  /** Unique in its data set. Of a case in a file: the name of the file, with the line in one of several cases. */
  readonly name: string;
  /** What the user says in a new session: one message, or several in order. */
  readonly input?: string | readonly string[];
  /** The text of an exported session. In a file: the name of the file with that text. */
  readonly session?: string;
  /** The record of the session after which it is run again. Default: 0, the whole conversation. */
  readonly at?: number;
  /** What is expected, by the name of the scorer. */
  readonly expect?: Readonly<Record<string, Json>>;
}

const caseForms: OptionForms<EvalCase> = {
  name: "string",
  input: {
    expectation: "a message, or a list of messages",
    fits: (value) => [value].flat().length > 0 && [value].flat().every((text) => typeof text === "string"),
  },
  session: "string",
  at: "amount",
  expect: "object",
};

/** Throws `BuildError` for cases that are not valid. */
export function checkCases(cases: readonly EvalCase[]): void {
  const names = new Set<string>();
  for (const each of cases) {
    const what = `The case ${each.name}`;
    checkOptions(what, each, caseForms);
    if ((each.input === undefined) === (each.session === undefined))
      refuse(`${what} needs either input or session.`);
    if (each.at !== undefined && each.session === undefined) refuse(`${what} has at, and no session.`);
    if (names.has(each.name)) refuse(`${what} is in the data set twice. Rename one of them.`);
    names.add(each.name);
  }
  if (cases.length === 0) refuse("The data set has no cases. Add a session: moora eval add SESSION");
}

/** The file in the folder of a data set that has the results of its last run. It is not a case. */
export const resultsFile = "results.json";

/**
 * Reads the data set in a folder. `NAME.json` is a case: `{ "input": "...", "expect": { ... } }`, or with `"session": "NAME.jsonl"`, a
 * session exported beside it, and `at`. A file `*.jsonl` is an exported session, which is a case if no other one names it, or has a case in each line.
 * Rejects with `BuildError` for a folder that does not exist or has no cases, and for an invalid case.
 */
export async function readDataset(folder: string): Promise<readonly EvalCase[]> {
  const files = await readdir(folder).catch(() =>
    refuse(`The folder ${folder} of the data set cannot be read. Create it with a case.`),
  );
  const cases: EvalCase[] = [];
  const sessions = new Map<string, string>();
  for (const file of files.toSorted()) {
    const [, name = "", end] = /^(.+)\.(jsonl?)$/.exec(file) ?? [];
    if (end === undefined || file === resultsFile) continue;
    const text = await readFile(join(folder, file), "utf8");
    if (end === "json") cases.push(textToCase(text, name));
    else if (text.startsWith('{"mark":')) sessions.set(file, text);
    else {
      if (text.trim() === "")
        refuse(`The file ${file} of the data set has no cases. Write some, or remove it.`);
      for (const [index, line] of text.split("\n").entries())
        if (line.trim() !== "") cases.push(textToCase(line, `${name}:${index + 1}`));
    }
  }
  const named = new Set(cases.map(({ session }) => session));
  for (const file of sessions.keys())
    if (!named.has(file)) cases.push({ name: file.replace(/\.jsonl$/, ""), session: file });
  checkCases(cases);
  return cases.map(({ session: file, ...each }) => {
    if (file === undefined) return each;
    const missing = `The session ${file} of the case ${each.name} is not in ${folder}.`;
    return { ...each, session: sessions.get(file) ?? refuse(missing) };
  });
}

const shape = '{ "input": "Hello", "expect": { "contains": "hi" } }';

function textToCase(text: string, name: string): EvalCase {
  const value: unknown = textToJson(text);
  const isCase = typeof value === "object" && value !== null && !Array.isArray(value);
  return isCase ? { name, ...value } : refuse(`The case ${name} must be an object, as JSON: ${shape}`);
}
