import type { Json, JsonObject } from "@moora/llm";
import { isJsonObject } from "@moora/llm/internal";

/** The schema of answers as providers take it: with an object at its root. */
export interface AnswerSchema {
  readonly json: JsonObject;
  /** Whether the answer is the field `value` of that object. */
  readonly isWrapped: boolean;
}

/** Keywords that make a root a choice of several schemas, which providers refuse even beside `type: "object"`. */
const choices = ["anyOf", "oneOf", "allOf", "not", "$ref", "enum", "const"];

/** A schema of an object as it is; any other, such as an enum, an array or a union, as the field `value` of an object. */
export function answerSchemaOf(schema: JsonObject): AnswerSchema {
  const isObject = schema["type"] === "object" && !choices.some((keyword) => keyword in schema);
  return isObject ? { json: schema, isWrapped: false } : { json: wrapped(schema), isWrapped: true };
}

function wrapped(schema: JsonObject): JsonObject {
  const { $defs = {}, definitions, ...root } = schema;
  const name = freeName(isJsonObject($defs) ? $defs : {});
  const isRecursive = pointsOutside(root) || pointsOutside($defs) || pointsOutside(definitions ?? null);
  const own = isRecursive ? { [name]: moved(root, name) } : {};
  const defs: Json = isJsonObject($defs) ? { ...own, ...objectOf(moved($defs, name)) } : own;
  return {
    type: "object",
    properties: { value: isRecursive ? { $ref: `#/$defs/${name}` } : root },
    required: ["value"],
    additionalProperties: false,
    ...(Object.keys(defs).length > 0 && { $defs: defs }),
    ...(definitions !== undefined && { definitions: moved(definitions, name) }),
  };
}

const freeName = (taken: JsonObject): string => {
  let name = "answer";
  while (Object.hasOwn(taken, name)) name += "_";
  return name;
};

/** Whether a reference points at the root, or into it past its definitions: it has to move with the root. */
const isOutside = (ref: Json | undefined): ref is string =>
  typeof ref === "string" && ref.startsWith("#") && !/^#\/(\$defs|definitions)\//.test(ref);

const pointsOutside = (schema: Json): boolean =>
  isJsonObject(schema) || Array.isArray(schema)
    ? Object.entries(schema).some(([key, field]) =>
        key === "$ref" ? isOutside(field) : pointsOutside(field),
      )
    : false;

/** The same schema with references to the root as references to its definition. */
function moved(schema: Json, name: string): Json {
  if (Array.isArray(schema)) return schema.map((one: Json) => moved(one, name));
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, field]) => [
      key,
      key === "$ref" && isOutside(field) ? `#/$defs/${name}${field.slice(1)}` : moved(field, name),
    ]),
  );
}

const objectOf = (value: Json): JsonObject => (isJsonObject(value) ? value : {});
