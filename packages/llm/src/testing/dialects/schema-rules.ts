import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import { schemaDialects, type SchemaDialect } from "../../schema/schema-dialects.ts";
import { fieldsOf, requiredKeys, resolvePointer } from "../../schema/schema-facts.ts";
import { schemaParts, sizesAbove } from "../../schema/schema-size.ts";
import { firstProblem, isStrictId, textIn, type Problems } from "./wire-rules.ts";

/** The dialect of a function or format of OpenAI. A server without `strict` may be one that compiles schemas to grammars. */
export function dialectOf(strict: Json | undefined): SchemaDialect {
  const { openAiStrict, openAi, chat } = schemaDialects;
  return strict === undefined ? chat : strict === true ? openAiStrict : openAi;
}

/** A tool of a request, and the dialect of its schema. */
export interface SentTool {
  readonly name: Json | undefined;
  readonly schema: Json | undefined;
  readonly dialect: SchemaDialect;
}

/** Why a provider would refuse tools, or the choice of those with these names. */
export function* toolProblems(
  tools: readonly SentTool[],
  chosen: Json | undefined,
  isName: (name: Json | undefined) => boolean = isStrictId,
): Problems {
  const names = tools.map(({ name }) => name);
  if (new Set(names).size < names.length) yield "tool names are not unique";
  for (const { name, schema, dialect } of tools) {
    if (!isName(name)) yield `invalid tool name: ${textIn(name)}`;
    yield* schemaProblems(schema, dialect, textIn(name));
  }
  for (const name of chosen === undefined ? [] : [chosen].flat())
    if (!names.includes(name)) yield "tool_choice names an unknown tool";
}

/** Why OpenAI would refuse the format of an answer. */
export function* formatProblems(format: Json | undefined, where: string): Problems {
  if (isJsonObject(format) && format["schema"] !== undefined)
    yield* schemaProblems(format["schema"], dialectOf(format["strict"]), where);
}

const structure =
  "type title description properties required additionalProperties items enum anyOf $ref $defs".split(" ");

/** Why a provider would refuse a schema. A dialect with open objects and recursion ignores the keywords that it does not know. */
export function* schemaProblems(schema: Json | undefined, dialect: SchemaDialect, where: string): Problems {
  if (!isJsonObject(schema) || schema["type"] !== "object")
    return yield `Invalid schema for ${where}: schema must have type 'object'`;
  for (const key of ["oneOf", "anyOf", "allOf", "enum", "not"])
    if (key in schema) yield `${where} does not support ${key} at the top level`;
  const wrongKey = Object.keys(fieldsOf(schema)).find((name) => dialect.keys?.test(name) === false);
  if (wrongKey !== undefined) yield `${where}.properties: property keys should match ${dialect.keys?.source}`;
  const [size] = sizesAbove(schema, dialect.limits);
  if (size !== undefined) yield `${where}: the ${size} of the schema is above the limit`;
  if (!dialect.recursion && contains(schema, schema, ["#"])) yield `${where}: recursion is not supported`;
  for (const [part] of schemaParts(schema)) {
    const problem =
      firstProblem(keywordProblems(part, schema, dialect)) ?? firstProblem(typeProblems(part, dialect));
    if (problem !== undefined) yield `Invalid schema for ${where}: ${problem}`;
  }
}

function* keywordProblems(part: JsonObject, root: JsonObject, dialect: SchemaDialect): Problems {
  const known = [...structure, ...dialect.keywords, ...(dialect.formats.length > 0 ? ["format"] : [])];
  const isStrict = dialect.objects !== "open" || !dialect.recursion;
  const wrong = Object.keys(part).find((key) =>
    isStrict ? !known.includes(key) : ["pattern", "patternProperties"].includes(key) && !known.includes(key),
  );
  if (wrong !== undefined) yield `'${wrong}' is not permitted`;
  const { pattern, format, $ref, enum: values } = part;
  if (/\(\?[=!<]/.test(textIn(pattern ?? ""))) yield "regex lookaround is not supported";
  if (isStrict && format !== undefined && !dialect.formats.includes(textIn(format)))
    yield `'${textIn(format)}' is not a valid format`;
  if (typeof $ref === "string" && !(/^#\/\$defs\/[^/]+$/.test($ref) && resolvePointer(root, $ref)))
    yield `reference '${$ref}' can only point to definitions at the top level`;
  if ($ref !== undefined && Object.keys(part).length > 1) yield `$ref cannot have other keywords`;
  for (const list of [values, part["anyOf"], part["oneOf"], part["allOf"]])
    if (list !== undefined && !(Array.isArray(list) && list.length > 0)) yield "[] is too short";
  const listed = values === undefined ? [] : [values].flat();
  if (!listed.every((value) => dialect.enumTypes.includes(value === null ? "null" : typeof value)))
    yield `invalid enum ${textIn(values)}`;
}

function* typeProblems(part: JsonObject, { objects, typeLists }: SchemaDialect): Problems {
  const { type, items, properties, required, additionalProperties: unnamed, enum: values } = part;
  if (objects !== "open" && !["type", "anyOf", "$ref"].some((key) => key in part))
    yield "schema must have a 'type' key";
  if (Array.isArray(type) && !typeLists) yield "type cannot be a list";
  const lists = [type, values, required].map((list = []) => [list].flat().map((one) => JSON.stringify(one)));
  if (lists.some((list) => new Set(list).size < list.length)) yield "a list has non-unique elements";
  if ([type].flat().includes("array") && !isJsonObject(items)) yield "array schema missing items";
  if (![type].flat().includes("object")) return;
  if (!isJsonObject(properties)) yield "object schema missing properties";
  if (objects === "open") return;
  const [names, needed] = [Object.keys(fieldsOf(part)), requiredKeys(part)];
  if (unnamed !== false) yield "'additionalProperties' is required to be false";
  if (!needed.every((name) => names.includes(name))) yield "'required' has an extra key";
  if (objects === "complete" && needed.length < names.length) yield "'required' is missing a key";
}

/** Whether a part of a schema leads to a reference that is open. */
const contains = (schema: JsonObject, root: JsonObject, open: readonly string[]): boolean =>
  [...schemaParts({ ...schema, $defs: {} })].some(([{ $ref }]) => {
    const target = typeof $ref === "string" ? resolvePointer(root, $ref) : undefined;
    return (
      typeof $ref === "string" &&
      (open.includes($ref) || (isJsonObject(target) && contains(target, root, [...open, $ref])))
    );
  });
