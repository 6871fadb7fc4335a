/**
 * Checks the words of this repository: comments, strings, identifiers, file names and pages are written in plain
 * American English. Prints one line for each finding and exits with 1 if there is one. What `allowed` names is skipped.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, writtenFiles } from "./workspace.ts";

/** A word or phrase that is not written here. */
export interface WordRule {
  /** Alternatives in lower case, separated by `|`. A blank matches any white space, also the break of a comment's line. */
  readonly words: string;
  /** What is written instead. */
  readonly better: string;
}

/** A place where a word of the list is meant. */
export interface Exception {
  /** The file, or the folder with a final slash. */
  readonly path: string;
  /** The text that contains the word, as it is in the file. */
  readonly text: string;
  readonly reason: string;
}

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly word: string;
  readonly better: string;
}

/** The words, by the reason for which they are not written. Parts of identifiers are compared as well. */
const rules: readonly WordRule[] = [
  // The field has a word for it.
  { words: "tell|tells|told|telling|retold|teller", better: "report, dispatch, emit, record" },
  { words: "bear|bears|borne|bearing", better: "contain, have, survive" },
  { words: "goes on|gone on|go on|going on|went on", better: "continue, resume" },
  { words: "came of|comes of|come of", better: "result" },
  { words: "came to|comes to|come to|coming to", better: "result in, total, reach" },
  { words: "stands for|stand for|stood for|standing for", better: "represent, replace, mean" },
  { words: "makes no sense|make no sense", better: "is invalid" },
  { words: "answers how", better: "return a function that" },
  { words: "room|rooms", better: "package, folder" },
  { words: "hand of|hands of|desk|desks", better: "handler, reviewer" },
  { words: "happening|happenings", better: "event" },
  { words: "essence|joint|joints", better: "what it is, in the field's word" },
  { words: "wherefore|thereof|whereof|whilst|hitherto|henceforth", better: "plain words" },
  // People are not abstractions.
  { words: "whoever|whomever|whosoever|whatever one", better: "caller, owner, process, user" },
  { words: "anybody|nobody|somebody|everybody|anybodys", better: "caller, owner, process, user" },
  // No filler.
  { words: "simply|just|obviously|of course", better: "the sentence without it" },
  // American spelling.
  {
    words: "behaviour|behaviours|colour|colours|coloured|colouring|favour|favours|honour|honours",
    better: "the spelling with -or",
  },
  { words: "neighbour|neighbours|neighbouring|labour|harbour", better: "the spelling with -or" },
  {
    words: "recognise|recognised|recognises|initialise|initialised|initialises",
    better: "the spelling with -ize",
  },
  {
    words: "serialise|serialised|serialises|serialisable|deserialise|serialisation",
    better: "the spelling with -ize",
  },
  {
    words: "normalise|normalised|normalises|normalisation|organise|organised|organisation",
    better: "the spelling with -ize",
  },
  {
    words: "summarise|summarised|summarises|summarising|minimise|maximise|optimise|optimised",
    better: "the spelling with -ize",
  },
  {
    words: "synchronise|synchronised|realise|realised|generalise|authorise|authorised|finalise",
    better: "the spelling with -ize",
  },
  {
    words: "analyse|analysed|catalogue|centre|licence|grey|defence|artefact",
    better: "the American spelling",
  },
  {
    words: "judgement|judgements|towards|afterwards|spelt|learnt|amongst|fulfil",
    better: "the American spelling",
  },
  {
    words: "traveller|travelled|travelling|modelled|modelling|labelled|signalled|cancelling",
    better: "the spelling with one l",
  },
];

interface Form {
  readonly form: RegExp;
  readonly better: string;
}

/** Forms that are not written, with any words. */
const forms: readonly Form[] = [
  // "If there is none", "there is no log", "is no longer" and "is no more than" are plain English.
  {
    form: /(?<!\b(?:there|here)(?:\s|\*|\/\/)+)\b(?:is|are|was|were)(?:\s|\*|\/\/)+none\b/gi,
    better: "is invalid, is not a",
  },
  {
    form: /(?<!\b(?:there|here)(?:\s|\*|\/\/)+)\b(?:is|are|was|were)(?:\s|\*|\/\/)+no(?:\s|\*|\/\/)+(?!longer|more|less|other|need\b)[a-z]+/gi,
    better: "is not a, is invalid, there is no",
  },
  { form: /\b[a-z]+n't\b/gi, better: "not" },
  { form: /\b(?:it|that|there|what|here|who|where|let|he|she)'s\b/gi, better: "is, has" },
  {
    form: /\b(?:I'm|(?:you|we|they)'(?:re|ve|ll|d)|(?:I|it|he|she)'(?:ll|d|ve))\b/gi,
    better: "the full form",
  },
  { form: /\btime-outs?\b/gi, better: "timeout" },
];

/** Where a word is meant. An entry that excuses nothing is reported, so that the list stays true. */
const allowed: readonly Exception[] = [
  { path: "scripts/language.ts", text: "", reason: "the list itself" },
  { path: "test/language.test.ts", text: "", reason: "examples of findings" },
  { path: "docs/glossary.md", text: "tell, send an event", reason: "names the word that is not used" },
  ...exceptions("a message to the model, in golden logs", [
    ["packages/agent-core-effects/src/request/", '"Go on."'],
    ["packages/agent-testing/", '"Go on."'],
    ["testbed/src/durable/transcripts/", '"Go on."'],
    ["packages/agent-core-state-machine/src/wording.ts", "go on only with what you are sure of"],
    ["packages/agent-core-state-machine/src/wording.ts", "Nobody approved this call in time."],
    ["packages/agent-core-state-machine/src/wording.ts", "Nobody answered this question in time."],
    ["packages/agent-core-state-machine/src/wording.ts", "Nobody reported its outcome in time."],
    ["packages/agent/test/restarts/", "Nobody reported its outcome in time."],
  ]),
  ...exceptions("words of users", [
    ["packages/tools/src/guardrails.ts", "don['’]t) (?:tell"],
    ["packages/tools/test/guardrails.test.ts", "Don’t tell the user"],
    ["packages/tools/test/guardrails.test.ts", "Do not tell the user"],
    ["packages/tools/test/guardrails.test.ts", "The user was told"],
    ["packages/planner/test/", ""],
    ["packages/moora/test/cli/usage.test.ts", "--colour"],
  ]),
];

function exceptions(
  reason: string,
  places: readonly (readonly [path: string, text: string])[],
): readonly Exception[] {
  return places.map(([path, text]) => ({ path, text, reason }));
}

const between = String.raw`(?:\s|\*|//)+`;

/** Finds words and phrases of rules in text, also where an identifier contains them. */
export function wordFinder(wordRules: readonly WordRule[]): (text: string) => readonly Hit[] {
  const byWords = new Map(
    wordRules.flatMap(({ words, better }) => words.split("|").map((word) => [word, better] as const)),
  );
  const phrases = [...byWords].filter(([word]) => word.includes(" ")).map(phraseForm);
  return (text) => [
    ...wordHits(text, byWords),
    ...[...forms, ...phrases].flatMap((phrase) => phraseHits(text, phrase)),
  ];
}

const phraseForm = ([words, better]: readonly [string, string]): Form => ({
  form: new RegExp(`\\b${words.replaceAll(" ", between)}\\b`, "gi"),
  better,
});

export interface Hit {
  readonly index: number;
  readonly word: string;
  readonly better: string;
}

/** Words by themselves, and pairs of words that an identifier joins. */
function* wordHits(text: string, better: ReadonlyMap<string, string>): Generator<Hit> {
  let before = "";
  let end = -1;
  for (const { 0: word, index } of text.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)) {
    const pair = `${before} ${word.toLowerCase()}`;
    const joined = index === end ? better.get(pair) : undefined;
    if (joined !== undefined) yield { index: index - before.length, word: pair, better: joined };
    before = word.toLowerCase();
    end = index + word.length;
    const instead = better.get(before);
    if (instead !== undefined) yield { index, word, better: instead };
  }
}

const phraseHits = (text: string, { form, better }: Form): readonly Hit[] =>
  [...text.matchAll(form)].map(({ 0: found, index }) => ({
    index,
    word: found.replaceAll(/(?:\s|\*|\/\/)+/g, " "),
    better,
  }));

const find = wordFinder(rules);

/** The findings in one file, by line. The name of the file is line 0. */
export function findingsIn(
  file: string,
  text: string,
  granted: readonly Exception[],
  used: Set<Exception> = new Set(),
): readonly Finding[] {
  const here = granted.filter(({ path }) => (path.endsWith("/") ? file.startsWith(path) : file === path));
  const excused = (index: number, length: number): boolean => {
    const entry = here.find((exception) => contains(text, exception.text, index, length));
    if (entry !== undefined) used.add(entry);
    return entry !== undefined;
  };
  const inName = find(file).map(({ word, better }) => ({ file, line: 0, word, better }));
  const inText = find(text)
    .filter(({ index, word }) => !excused(index, word.length))
    .map(({ index, word, better }) => ({ file, line: lineAt(text, index), word, better }))
    .toSorted((one, other) => one.line - other.line);
  return [...inName, ...inText];
}

/** Whether an occurrence of `part` in a text covers what begins at an index. An empty part covers the whole text. */
function contains(text: string, part: string, index: number, length: number): boolean {
  if (part === "") return true;
  const from = text.lastIndexOf(part, index);
  return from >= 0 && index + length <= from + part.length;
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split("\n").length;

function main(): void {
  const used = new Set<Exception>();
  const findings = writtenFiles().flatMap((file) =>
    findingsIn(file, readFileSync(join(root, file), "utf8"), allowed, used),
  );
  for (const { file, line, word, better } of findings)
    console.log(`${file}:${line}: "${word}": write ${better} instead.`);
  const unused = allowed.filter((exception) => !used.has(exception));
  for (const { path, text } of unused)
    console.log(`scripts/language.ts: the exception "${text}" in ${path} excuses nothing: remove it.`);
  if (findings.length + unused.length > 0) process.exitCode = 1;
  console.log(`${findings.length} findings.`);
}

if (import.meta.main) main();
