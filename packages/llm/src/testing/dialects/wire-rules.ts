import { isJsonObject, textToJson, type Json, type JsonObject } from "../../json.ts";

/** The problems of a request's body. A provider would report the first one. */
export type Problems = Generator<string, void>;

/** The first problem; undefined for a valid body. */
export const firstProblem = (problems: Problems): string | undefined => problems.next().value ?? undefined;

/** Whether an id or a name has the format that most providers require. */
export const isStrictId = (id: Json | undefined): boolean =>
  typeof id === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(id);

/** Whether a value is not a string, or only white space. */
export const isBlank = (text: Json | undefined): boolean => typeof text !== "string" || text.trim() === "";

/** A string unchanged, any other value as JSON. */
export const textIn = (value: Json | undefined): string =>
  typeof value === "string" ? value : JSON.stringify(value);

/** The objects of a list. Any other item is a problem. */
export function* objectsIn(list: Json | undefined, where: string): Generator<string, readonly JsonObject[]> {
  if (!Array.isArray(list)) {
    yield `${where} is not a list`;
    return [];
  }
  const objects = list.filter((one: Json) => isJsonObject(one));
  if (objects.length < list.length) yield `${where} has an item that is not an object`;
  return objects;
}

/** Unknown parameters, text that is not well-formed, a missing model, and a choice of tools without tools. */
export function* headProblems(body: JsonObject, knownParameters: string, fixed: JsonObject): Problems {
  const known = knownParameters.split(" ");
  for (const key of Object.keys(body)) if (!known.includes(key)) yield `Unknown parameter: '${key}'.`;
  if (hasIllFormedText(body)) yield* illFormedTexts(body, "body");
  for (const [key, value] of Object.entries(fixed))
    if (body[key] !== value) yield `${key} must be ${textIn(value)}`;
  if (known.includes("model") && isBlank(body["model"])) yield "you must provide a model parameter";
  for (const key of ["tool_choice", "parallel_tool_calls"])
    if (body["tools"] === undefined && body[key] !== undefined) yield `${key} without tools`;
}

/**
 * Whether a string or key of a JSON value is not well-formed UTF-16. Makes no copies, so that millions of bodies can be
 * checked.
 */
export function hasIllFormedText(value: unknown): boolean {
  if (typeof value === "string") return !value.isWellFormed();
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasIllFormedText);
  const fields: Readonly<Record<string, unknown>> = isRecord(value) ? value : {};
  for (const key in fields) if (!key.isWellFormed() || hasIllFormedText(fields[key])) return true;
  return false;
}

/** Narrows an object to a record, whose fields can be read without a copy. */
const isRecord = (value: object): value is Readonly<Record<string, unknown>> => !Array.isArray(value);

function* illFormedTexts(value: Json, where: string): Problems {
  if (typeof value === "string" && !value.isWellFormed()) yield `${where} is not valid UTF-8`;
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    if (!key.isWellFormed()) yield `${where} has a key that is not valid UTF-8`;
    yield* illFormedTexts(field, `${where}.${key}`);
  }
}

/** Arguments that are not the JSON text of an object. */
export function* objectArguments(text: Json | undefined, where: string): Problems {
  if (typeof text !== "string" || !isJsonObject(textToJson(text)))
    yield `${where}: the arguments are not a JSON object`;
}

/** Checks that every call has one result, in the order of the calls, before any other content. */
export class CallOrder {
  readonly #seen = new Set<string>();
  #open: string[] = [];
  #answering = false;

  *call(id: Json | undefined): Problems {
    if (!isStrictId(id)) yield `invalid tool call id: ${JSON.stringify(id)}`;
    const key = JSON.stringify(id);
    if (this.#seen.has(key)) yield `duplicate tool call id: ${key}`;
    if (this.#answering && this.#open.length > 0) yield `a tool call is between results: ${key}`;
    this.#seen.add(key);
    this.#open.push(key);
    this.#answering = false;
  }

  *result(id: Json | undefined): Problems {
    if (this.#open[0] !== JSON.stringify(id)) yield `unexpected tool result: ${JSON.stringify(id)}`;
    this.#open = this.#open.slice(1);
    this.#answering = true;
  }

  /** To be called before any content that is neither a call nor a result. */
  *expectNoOpenCalls(where: string): Problems {
    if (this.#open.length > 0) yield `No tool output found for call ${this.#open[0]} before ${where}`;
  }
}

/** Content that is neither text nor a list of pieces, or that has blank text. */
export function* contentProblems(content: Json | undefined, where: string): Problems {
  if (typeof content === "string") {
    if (isBlank(content)) yield `${where} is blank`;
    return;
  }
  const pieces = yield* objectsIn(content, where);
  if (pieces.length === 0) yield `${where} is empty`;
  for (const piece of pieces) if ("text" in piece && isBlank(piece["text"])) yield `${where} has blank text`;
}
