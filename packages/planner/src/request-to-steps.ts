import type { Json, JsonObject, LlmTool } from "@moora/llm";
import { isJsonObject } from "@moora/llm/internal";
import { mentionsIn, sumsIn, withoutQuotes, type Mentions } from "./mentions.ts";

/** One call that a request asks for: a tool that it names, and the arguments that stand beside the name. */
export interface Step {
  readonly tool: LlmTool;
  readonly text: string;
  readonly values: JsonObject;
  /** The required arguments that the text does not have. */
  readonly missing: readonly string[];
  /** Whether it begins after the steps before it. */
  readonly isLater: boolean;
}

/** A place of a request that names a tool: by a word that no other tool has in its name, or by arithmetic. */
interface Naming {
  readonly at: number;
  readonly by: string;
  readonly tool: LlmTool;
}

/** The steps of a request, in its order. */
export function requestToSteps(text: string, tools: readonly LlmTool[]): readonly Step[] {
  const namings = namingsIn(text, tools);
  return namings.map(({ at, tool }, index) => {
    const part = text.slice(index === 0 ? 0 : at, namings[index + 1]?.at);
    return { ...stepOf(tool, part), isLater: /\bthen\s+(?:\p{L}+\s+)?$/iu.test(text.slice(0, at)) };
  });
}

/** Where a text names tools. The words of one name are one naming; a word that comes again begins another. */
function namingsIn(text: string, tools: readonly LlmTool[]): readonly Naming[] {
  const namings: Naming[] = [];
  let seen = new Set<string>();
  for (const naming of allNamings(withoutQuotes(text), tools)) {
    if (naming.tool !== namings.at(-1)?.tool || seen.has(naming.by)) {
      namings.push(naming);
      seen = new Set();
    }
    seen.add(naming.by);
  }
  return namings;
}

function allNamings(text: string, tools: readonly LlmTool[]): readonly Naming[] {
  const named = tools.flatMap((tool) => [...new Set(wordsOf(tool.name))].map((by) => ({ by, tool })));
  const owners = Map.groupBy(named, ({ by }) => by);
  const words = [...text.matchAll(/\p{L}+/gu)].flatMap(({ 0: word, index }): readonly Naming[] => {
    const [owner, ...others] = owners.get(stemOf(word)) ?? [];
    return owner === undefined || others.length > 0 ? [] : [{ ...owner, at: index }];
  });
  const calculator = tools.find((tool) => fieldsOf(tool).some(([name]) => name === "expression"));
  if (calculator === undefined) return words;
  const sums = sumsIn(text).map(({ at }) => ({ at, by: "=", tool: calculator }));
  return [...words, ...sums].toSorted((a, b) => a.at - b.at);
}

/** The step of one tool, with the arguments that a text has for it. */
export function stepOf(tool: LlmTool, text: string): Step {
  const { required } = tool.schema;
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const mentions = mentionsIn(text);
  const isNeeded = ([name]: readonly [string, JsonObject]): boolean => needed.includes(name);
  const fields = fieldsOf(tool).toSorted((a, b) => Number(isNeeded(b)) - Number(isNeeded(a)));
  const filled = fields.flatMap((field): readonly (readonly [string, Json])[] => {
    const value = valueOf(field, isNeeded(field), mentions);
    return value === undefined ? [] : [[field[0], value]];
  });
  const given = new Set(filled.map(([name]) => name));
  const missing = needed.filter((name) => !given.has(name));
  return { tool, text: text.trim(), values: Object.fromEntries(filled), missing, isLater: false };
}

export function fieldsOf({ schema: { properties } }: LlmTool): readonly (readonly [string, JsonObject])[] {
  const fields = isJsonObject(properties) ? Object.entries(properties) : [];
  return fields.map(([name, field]) => [name, isJsonObject(field) ? field : {}]);
}

/** The value of a field: the next mention of its kind; undefined without one. */
function valueOf([name, schema]: readonly [string, JsonObject], isNeeded: boolean, mentions: Mentions) {
  const { enum: choices, type } = schema;
  if (Array.isArray(choices))
    return choices.find((choice) => mentions.words.has(String(choice).toLowerCase()));
  if (type === "boolean") return mentions.words.has(name.toLowerCase()) ? true : undefined;
  if (type === "number" || type === "integer") return nextNumber(mentions);
  if (type === "array") return allOf(isJsonObject(schema["items"]) ? schema["items"] : {}, mentions);
  return type === "object" ? undefined : textFor(name, isNeeded, mentions);
}

function nextNumber({ numbers }: Mentions): number | undefined {
  const [text] = numbers.splice(0, 1);
  return text === undefined ? undefined : Number(text.replaceAll(",", ""));
}

function allOf({ type }: JsonObject, { quoted, places, numbers }: Mentions): Json | undefined {
  const isOfNumbers = type === "number" || type === "integer";
  const values = isOfNumbers
    ? numbers.map((text) => Number(text.replaceAll(",", "")))
    : [...quoted, ...places];
  return values.length === 0 ? undefined : values;
}

const forPlaces = /path|file|dir|folder|glob|ur[il]|mail/i;

/** A field that has to have a value takes what another field would rather have. */
function textFor(name: string, isNeeded: boolean, mentions: Mentions): string | undefined {
  const { quoted, sums, places, names, numbers } = mentions;
  if (name === "expression") return sums.shift();
  const own = forPlaces.test(name) ? [places] : [quoted, names];
  const lists = isNeeded ? [...own, quoted, names, places, numbers] : own;
  return lists.find((list) => list.length > 0)?.shift();
}

const wordsOf = (name: string): readonly string[] =>
  name
    .split(/(?<=\p{Ll})(?=\p{Lu})|[^\p{L}]+/u)
    .filter((word) => word !== "")
    .map(stemOf);

const stemOf = (word: string): string => word.toLowerCase().replace(/(?:ing|ed|es|s|e)$/, "");
