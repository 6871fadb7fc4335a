import type { JsonObject } from "@moora/llm";
import { isObject, resolvePointer, shownValue } from "@moora/llm/internal";
import { fieldPath } from "../field-problem.ts";

/** The kinds of values that keywords have. A keyword that is not listed here is not checked. */
const keywordsByKind = {
  schema:
    "additionalProperties unevaluatedProperties propertyNames items unevaluatedItems contains not if then else",
  schemas: "prefixItems allOf anyOf oneOf",
  schemasByName: "properties patternProperties $defs definitions dependentSchemas",
  texts: "required",
  list: "enum",
  text: "$ref pattern format title description",
  number: "minimum maximum multipleOf",
  count: "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
} as const;

type Kind = keyof typeof keywordsByKind;

const kinds: readonly Kind[] = [
  "schema",
  "schemas",
  "schemasByName",
  "texts",
  "list",
  "text",
  "number",
  "count",
];

const kindOf: ReadonlyMap<string, Kind> = new Map(
  kinds.flatMap((kind) => keywordsByKind[kind].split(" ").map((keyword): [string, Kind] => [keyword, kind])),
);

const typeNames: readonly unknown[] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** The longest path that is followed. */
const maxPath = 200;

type Path = readonly (string | number)[];

/**
 * The first mistake in a JSON Schema, with its path: a keyword whose value has another form than its own, such as
 * `{ city: "string" }` as `properties`, a reference into the schema that leads nowhere, and an invalid regular expression if it is
 * executed. Undefined if there is none.
 */
export const jsonSchemaProblem = (schema: JsonObject, runsPatterns: boolean): string | undefined =>
  problemAt(schema, [], { schema, runsPatterns });

/** The schema as a whole, and whether its regular expressions are executed here. */
interface Root {
  readonly schema: JsonObject;
  readonly runsPatterns: boolean;
}

function problemAt(schema: unknown, path: Path, root: Root): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (path.length > maxPath) return `it has more than ${maxPath} levels.`;
  if (!isObject(schema)) return mustBe(path, 'a schema such as { type: "string" }', schema);
  for (const [keyword, value] of Object.entries(schema)) {
    const problem = keywordProblem(keyword, value, [...path, keyword], root);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function keywordProblem(keyword: string, value: unknown, path: Path, root: Root): string | undefined {
  if (keyword === "type") return typeProblem(value, path);
  if (keyword === "$ref" && typeof value === "string" && leadsNowhere(value, root.schema))
    return `${pathText(path)} is ${shownValue(value)}, which is not in the schema.`;
  if (keyword === "pattern" && root.runsPatterns && typeof value === "string" && !isPattern(value))
    return mustBe(path, "a regular expression", value);
  switch (kindOf.get(keyword)) {
    case undefined:
      return undefined;
    case "schema":
      // Older schemas have a list of schemas as `items`.
      return keyword === "items" && Array.isArray(value)
        ? firstProblem(value.entries(), path, root)
        : problemAt(value, path, root);
    case "schemas":
      return Array.isArray(value)
        ? firstProblem(value.entries(), path, root)
        : mustBe(path, "a list of schemas", value);
    case "schemasByName":
      return isObject(value)
        ? firstProblem(Object.entries(value), path, root)
        : mustBe(path, "an object of schemas", value);
    case "texts":
      return Array.isArray(value) && value.every((item) => typeof item === "string")
        ? undefined
        : mustBe(path, "a list of strings", value);
    case "list":
      return Array.isArray(value) ? undefined : mustBe(path, "a list", value);
    case "text":
      return typeof value === "string" ? undefined : mustBe(path, "a string", value);
    case "number":
      return typeof value === "number" ? undefined : mustBe(path, "a number", value);
    case "count":
      return typeof value === "number" && value >= 0
        ? undefined
        : mustBe(path, "a number of 0 or more", value);
  }
}

function typeProblem(value: unknown, path: Path): string | undefined {
  const named: readonly unknown[] = Array.isArray(value) ? value : [value];
  const wrong = named.find((name) => !typeNames.includes(name));
  if (named.length > 0 && wrong === undefined) return undefined;
  return mustBe(path, `one of ${typeNames.join(", ")}`, wrong);
}

function firstProblem(
  parts: Iterable<readonly [string | number, unknown]>,
  path: Path,
  root: Root,
): string | undefined {
  for (const [name, part] of parts) {
    const problem = problemAt(part, [...path, name], root);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Whether a reference has no target in the schema itself: a pointer, an `$anchor` or an `$id`. Nothing is loaded. */
function leadsNowhere(reference: string, root: JsonObject): boolean {
  if (/^#(\/|$)/.test(reference)) return resolvePointer(root, reference) === undefined;
  const [id, anchor] = reference.split("#");
  const name = JSON.stringify(id === "" ? { $anchor: anchor } : { $id: id });
  return !JSON.stringify(root).includes(name.slice(1, -1));
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

const mustBe = (path: Path, expectation: string, value: unknown): string =>
  `${pathText(path)} must be ${expectation}, got ${shownValue(value)}.`;

/** `properties.city` for a path of keys. */
const pathText = (path: Path): string => (path.length === 0 ? "it" : fieldPath("", path).replace(/^\./, ""));
