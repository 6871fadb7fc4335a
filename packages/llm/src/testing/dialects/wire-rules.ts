import { isJsonObject, textToJson, type Json, type JsonObject } from "../../json.ts";

/** What is wrong with the body of a request, rule by rule. The first problem is what a provider would answer with. */
export type Problems = Generator<string, void>;

/** The first problem, undefined where there is none. */
export const firstProblem = (problems: Problems): string | undefined => problems.next().value ?? undefined;

/** Whether an id or a name fits the strictest pattern that a provider has. */
export const isStrictId = (id: Json | undefined): boolean =>
  typeof id === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(id);

/** Whether there is no text, or only white space. */
export const isBlank = (text: Json | undefined): boolean => typeof text !== "string" || text.trim() === "";

/** A string as it is, anything else as JSON. */
export const textIn = (value: Json | undefined): string =>
  typeof value === "string" ? value : JSON.stringify(value);

/** The objects of a list; anything else in it is a problem. */
export function* objectsIn(list: Json | undefined, where: string): Generator<string, readonly JsonObject[]> {
  if (!Array.isArray(list)) {
    yield `${where} is not a list`;
    return [];
  }
  const objects = list.filter((one: Json) => isJsonObject(one));
  if (objects.length < list.length) yield `${where} has an item that is not an object`;
  return objects;
}

/** Parameters that a provider does not know. */
export function* onlyKnown(body: JsonObject, known: readonly string[]): Problems {
  for (const key of Object.keys(body)) if (!known.includes(key)) yield `Unknown parameter: '${key}'.`;
}

/** Strings and keys that are not well-formed UTF-16. */
export function* wellFormedText(value: Json, where: string = "body"): Problems {
  if (hasIllFormedText(value)) yield* illFormedTexts(value, where);
}

/** Whether some string or key of a JSON value is ill-formed. Makes no copies: bodies are checked by the million. */
export function hasIllFormedText(value: unknown): boolean {
  if (typeof value === "string") return !value.isWellFormed();
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasIllFormedText);
  const fields: Readonly<Record<string, unknown>> = isRecord(value) ? value : {};
  for (const key in fields) if (!key.isWellFormed() || hasIllFormedText(fields[key])) return true;
  return false;
}

/** True for every object: as a record, its fields can be read without a copy. */
const isRecord = (value: object): value is Readonly<Record<string, unknown>> => !Array.isArray(value);

function* illFormedTexts(value: Json, where: string): Problems {
  if (typeof value === "string" && !value.isWellFormed()) yield `${where} is not valid UTF-8`;
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    if (!key.isWellFormed()) yield `${where} has a key that is not valid UTF-8`;
    yield* illFormedTexts(field, `${where}.${key}`);
  }
}

/** The arguments of a call have to be the JSON text of an object. */
export function* objectArguments(text: Json | undefined, where: string): Problems {
  if (typeof text !== "string" || !isJsonObject(textToJson(text)))
    yield `${where}: the arguments are not a JSON object`;
}

/** Follows calls and their results: each is answered once, in order, before any other content. */
export class CallOrder {
  readonly #seen = new Set<string>();
  #open: string[] = [];
  #answering = false;

  *call(id: Json | undefined): Problems {
    if (!isStrictId(id)) yield `the id of a call does not fit: ${JSON.stringify(id)}`;
    const key = JSON.stringify(id);
    if (this.#seen.has(key)) yield `the id of a call is not unique: ${key}`;
    if (this.#answering && this.#open.length > 0) yield `a call stands between the results: ${key}`;
    this.#seen.add(key);
    this.#open.push(key);
    this.#answering = false;
  }

  *result(id: Json | undefined): Problems {
    if (this.#open[0] !== JSON.stringify(id))
      yield `a result without its call before it: ${JSON.stringify(id)}`;
    this.#open = this.#open.slice(1);
    this.#answering = true;
  }

  /** Before anything that is neither a call nor a result. */
  *expectNoOpenCalls(where: string): Problems {
    if (this.#open.length > 0) yield `No tool output found for call ${this.#open[0]} before ${where}`;
  }
}

/** A schema that is marked as strict is closed, and requires all of its keys. */
export function* strictShape(schema: Json | undefined, where: string): Problems {
  if (Array.isArray(schema)) for (const one of schema) yield* strictShape(one, where);
  if (!isJsonObject(schema)) return;
  const { properties, required, additionalProperties } = schema;
  if (schema["type"] === "object" && isJsonObject(properties)) {
    if (additionalProperties !== false) yield `${where}: 'additionalProperties' is required to be false`;
    const missing = Object.keys(properties).filter(
      (key) => !Array.isArray(required) || !required.includes(key),
    );
    if (missing.length > 0) yield `${where}: 'required' is missing ${missing.join()}`;
  }
  for (const part of [properties, schema["$defs"]]) {
    if (isJsonObject(part))
      for (const [key, one] of Object.entries(part)) yield* strictShape(one, `${where}.${key}`);
  }
  yield* strictShape(schema["items"], where);
  yield* strictShape(schema["anyOf"], where);
}
