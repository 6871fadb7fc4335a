import type { Json, JsonObject } from "@moora/llm";
import { textToJson } from "@moora/llm/internal";
import type { Clause } from "./clause.ts";
import { allowsNumber, allowsText } from "./field-limits.ts";
import { fieldOf, fieldsOf, objectAt, type Field } from "./fields.ts";
import { isHinted, MentionPool } from "./mention-pool.ts";
import type { MentionKind } from "./mentions.ts";
import { folderIn, phraseIn } from "./phrases.ts";
import { kindsFor, roleOf } from "./roles.ts";
import { stemOf } from "./words.ts";

/** Arguments with a recognizable form come before those that accept any text, and required ones before optional ones. */
const inOrder = (fields: readonly Field[]): readonly Field[] =>
  fields.toSorted((a, b) => rankOf(a) - rankOf(b) || Number(b.isRequired) - Number(a.isRequired));

function rankOf(field: Field): number {
  if (field.choices.length > 0 || field.type === "boolean") return 0;
  if (field.type !== "string" && field.type !== "any") return 1;
  const role = roleOf(field);
  if (role === "id") return 0.5;
  return role === "plain" ? 3 : role === "phrase" ? 4 : 2;
}

/** Fills arguments from a request, using each piece of it once, and scores the forms of the pieces. */
export class Filler {
  #score = 0;
  readonly #fields: readonly Field[];
  readonly #clause: Clause;
  readonly #toolWords: ReadonlySet<string>;
  readonly #pool: MentionPool;
  readonly #byType: { readonly [Type in Field["type"]]: (field: Field) => Json | undefined } = {
    boolean: (field) => this.#flag(field),
    number: (field) => this.#number(field),
    integer: (field) => this.#number(field),
    array: (field) => this.#list(field),
    object: (field) => this.#object(field),
    string: (field) => this.#text(field),
    any: (field) => this.#text(field),
  };

  constructor(fields: readonly Field[], clause: Clause, toolWords: ReadonlySet<string>) {
    this.#fields = fields;
    this.#clause = clause;
    this.#toolWords = toolWords;
    this.#pool = new MentionPool(clause, toolWords);
  }

  /** The evidence for a tool, minus the evidence against it: pieces with a distinctive form that no argument accepts. */
  get evidence(): number {
    return this.#score - this.#pool.distinctiveLeft * 1.2;
  }

  /** The values of these arguments in the request. */
  valuesOf(fields: readonly Field[] = this.#fields): JsonObject {
    const entries = inOrder(fields).flatMap((field) => {
      const value = this.#valueOf(field);
      return value === undefined ? [] : [[field.name, value] as const];
    });
    return Object.fromEntries(entries);
  }

  #valueOf(field: Field): Json | undefined {
    const stated = this.#explicit(field);
    if (stated !== undefined) return this.#scored(3, stated);
    if (field.choices.length > 0) return this.#choice(field);
    return this.#byType[field.type](field);
  }

  #scored<Value>(evidence: number, value: Value): Value {
    this.#score += evidence;
    return value;
  }

  /** `name: value` or `name=value` in the text. */
  #explicit(field: Field): Json | undefined {
    if (field.plain.length === 0) return undefined;
    const name = field.plain.map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, "")).join("[ _-]?");
    const match = new RegExp(`(?<![\\p{L}\\p{N}])${name}\\s*[:=]\\s*("[^"]*"|[^\\s,;]+)`, "iu").exec(
      this.#clause.text,
    );
    const text = match?.[1]?.replaceAll(/^"|"$/g, "");
    if (match === null || text === undefined) return undefined;
    this.#pool.takeWithin(match.index, match.index + match[0].length);
    if (field.type === "string") return text;
    const json = textToJson(text);
    if (field.type === "any") return json ?? text;
    return typeof json === (field.type === "integer" ? "number" : field.type) ? json : undefined;
  }

  #choice({ choices, isRequired }: Field): Json | undefined {
    const stated = choices.find((choice) => {
      const words = textOf(choice)
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u);
      return words.every((word) => this.#clause.plain.has(word) || this.#clause.words.has(stemOf(word)));
    });
    if (stated !== undefined) return this.#scored(2, stated);
    return isRequired && choices.length === 1 ? choices[0] : undefined;
  }

  #flag({ words }: Field): boolean | undefined {
    const named = words.find((word) => this.#clause.words.has(word) && !this.#toolWords.has(word));
    if (named === undefined) return undefined;
    const negated = new RegExp(`\\b(?:not|no|non|without|dont|don't)[ -]+${named}`, "i");
    return this.#scored(0.75, !negated.test(this.#clause.text));
  }

  #number(field: Field): number | undefined {
    const near = this.#pool.numberNear(field);
    const found =
      near ?? (field.isRequired || this.#isOnlyNumber(field) ? this.#pool.left("number")[0] : undefined);
    const value = found === undefined ? undefined : textToNumber(found.text);
    if (found === undefined || value === undefined || !allowsNumber(field, value)) return undefined;
    this.#pool.take(found);
    return this.#scored(near === undefined ? 1 : 1.5, value);
  }

  /** Whether this is the only number and the only argument for it: then the number is used. */
  #isOnlyNumber({ name }: Field): boolean {
    const takers = this.#fields.filter(({ type }) => type === "number" || type === "integer");
    return takers.length === 1 && takers[0]?.name === name && this.#pool.left("number").length === 1;
  }

  #list(field: Field): Json | undefined {
    const item = fieldOf(field.name, objectAt(field.schema, "items"), false);
    const isNumber = item.type === "number" || item.type === "integer";
    const found = isNumber ? this.#pool.left("number") : this.#pool.left(...kindsFor(roleOf(item)), "quoted");
    if (found.length === 0) return undefined;
    this.#pool.take(...found);
    const texts = found.map(({ text }) => text);
    return this.#scored(1, isNumber ? texts.map(textToNumber) : texts);
  }

  #object(field: Field): JsonObject | undefined {
    const fields = fieldsOf(field.schema);
    const values = this.valuesOf(fields);
    const isWhole = fields.every(({ name, isRequired }) => !isRequired || Object.hasOwn(values, name));
    return isWhole && Object.keys(values).length > 0 ? values : undefined;
  }

  #text(field: Field): string | undefined {
    const role = roleOf(field);
    const candidates = kindsFor(role).flatMap((kind) => this.#pool.left(kind));
    const byHint = candidates.toSorted((a, b) => Number(isHinted(b, field)) - Number(isHinted(a, field)));
    for (const found of byHint) {
      if (!allowsText(field, found.text)) continue;
      if (role === "time-zone" && found.kind === "name" && found.before !== "in") continue;
      if (role === "plain" && !field.isRequired && !isHinted(found, field)) continue;
      this.#pool.take(found);
      return this.#scored(evidenceOf(found.kind, field), found.text);
    }
    if (role === "path") return this.#folder(field);
    // Any word can fill a text argument, but not an identifier.
    if (role === "id") return this.#numberAsText(field);
    if (!field.isRequired || (role !== "phrase" && role !== "plain")) return undefined;
    const phrase = (role === "plain" ? this.#numberAsText(field) : undefined) ?? this.#phrase();
    return phrase !== undefined && allowsText(field, phrase) ? phrase : undefined;
  }

  /** "order 7" for an order_id. */
  #numberAsText(field: Field): string | undefined {
    const found = this.#pool.numberNear(field);
    if (found !== undefined) this.#pool.take(found);
    return found?.text;
  }

  /** The subject of the request, in words that are not used elsewhere. */
  #phrase(): string | undefined {
    const hasPlace = this.#fields.some((field) => roleOf(field) === "path");
    return phraseIn(this.#pool.textLeft, this.#toolWords, hasPlace);
  }

  /** A word that is a folder by its position in the sentence: "in src". */
  #folder(field: Field): string | undefined {
    const folder = folderIn(this.#clause, this.#toolWords);
    return folder !== undefined && allowsText(field, folder) ? this.#scored(0.5, folder) : undefined;
  }
}

const textToNumber = (text: string): number => Number(text.replaceAll(",", ""));

const textOf = (choice: Json): string => (typeof choice === "string" ? choice : JSON.stringify(choice));

function evidenceOf(kind: MentionKind, { isRequired }: Field): number {
  if (kind === "name" || kind === "quoted") return isRequired ? 0.75 : 0.25;
  return isRequired ? 2.5 : 1.2;
}
