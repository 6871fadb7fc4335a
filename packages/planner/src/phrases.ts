import type { Clause } from "./clause.ts";
import { isStopWord, wordsOf } from "./words.ts";

/** Longer texts are not plausible search terms. */
const maxPhraseLength = 300;

/**
 * The subject of a request, for an argument that accepts any text. Quoted text is handled elsewhere: this is the text after
 * "for", "about" and similar words, or the rest of the request without the words of the tool.
 */
export function phraseIn(
  text: string,
  toolWords: ReadonlySet<string>,
  hasPlace: boolean,
): string | undefined {
  const introduced =
    /\b(?:for|about|regarding|called|named|saying|mention(?:s|ing)?|contain(?:s|ing)?)\s+(?:the (?:text|word|phrase|string|term)\s+)?(\S.*)$/i.exec(
      text,
    )?.[1];
  const found = introduced ?? rest(text, toolWords);
  const phrase = hasPlace ? withoutPlace(found) : found;
  const trimmed = phrase.replace(/[\s.,;:?!]+$/, "").trim();
  return trimmed === "" || trimmed.length > maxPhraseLength ? undefined : trimmed;
}

/** "TODO in the folder src" is about "TODO". */
const withoutPlace = (text: string): string =>
  text.replace(
    /\s+(?:in|inside|within|under|below|from|on|of)\s+(?:(?:the|this|all|any|my)\s+)?[^\s]+(?:\s+\w+)?\s*[.?!]?$/i,
    "",
  );

function rest(text: string, toolWords: ReadonlySet<string>): string {
  const words = text.split(/\s+/);
  const counts = (word: string): boolean => {
    const [compared] = wordsOf(word);
    return !isStopWord(word.replaceAll(/\W/g, "")) && !(compared !== undefined && toolWords.has(compared));
  };
  const first = words.findIndex(counts);
  const last = words.findLastIndex(counts);
  return first === -1 ? "" : words.slice(first, last + 1).join(" ");
}

const place =
  /\b(?:in|inside|within|under|below|of|from)\s+(?:the\s+)?(?:(?:folder|directory|dir)\s+)?([\w@.-]+)/gi;
const named = /\b(?:the\s+)?([\w@.-]+)\s+(?:folder|directory|dir)\b/gi;

/** A folder that has the form of an ordinary word: "in src", "the docs folder". */
export function folderIn({ text }: Clause, toolWords: ReadonlySet<string>): string | undefined {
  for (const pattern of [named, place]) {
    for (const [, word = ""] of text.matchAll(pattern)) {
      const name = word.replace(/[.-]+$/, "");
      const [compared] = wordsOf(name);
      const isPlain = compared === undefined || toolWords.has(compared) || notFolders.has(name.toLowerCase());
      if (!isPlain && !isStopWord(name)) return name;
    }
  }
  return undefined;
}

const notFolders = new Set([
  "repository",
  "repo",
  "project",
  "root",
  "current",
  "working",
  "here",
  "code",
  "source",
  "which",
]);
