import type { Json, JsonObject } from "@moora/llm";
import { isJsonObject } from "@moora/llm/internal";

/** The JSON Schema of answers in the form that providers accept: its root is an object. */
export interface AnswerSchema {
  readonly json: JsonObject;
  /** Whether the root is an object that was added, with the answer in its field `value`. */
  readonly isWrapped: boolean;
}

/** Keywords that a root must not have: providers refuse them even with `type: "object"`. */
const choices = ["anyOf", "oneOf", "allOf", "not", "$ref", "enum", "const"];

/**
 * Returns the schema of an object unchanged, and wraps any other schema, such as an enum, an array or a union, in the
 * field `value` of an object.
 */
export function answerSchemaOf(schema: JsonObject): AnswerSchema {
  const isObject = schema["type"] === "object" && !choices.some((keyword) => keyword in schema);
  return isObject ? { json: schema, isWrapped: false } : { json: wrapped(schema), isWrapped: true };
}

function wrapped(schema: JsonObject): JsonObject {
  const { $defs = {}, definitions, ...root } = schema;
  const name = freeName(isJsonObject($defs) ? $defs : {});
  const isRecursive = pointsOutside(root) || pointsOutside($defs) || pointsOutside(definitions ?? null);
  const own = isRecursive ? { [name]: withMovedReferences(root, name) } : {};
  const defs: Json = isJsonObject($defs) ? { ...own, ...objectOf(withMovedReferences($defs, name)) } : own;
  return {
    type: "object",
    properties: { value: isRecursive ? { $ref: `#/$defs/${name}` } : root },
    required: ["value"],
    additionalProperties: false,
    ...(Object.keys(defs).length > 0 && { $defs: defs }),
    ...(definitions !== undefined && { definitions: withMovedReferences(definitions, name) }),
  };
}

/** The schema in the field `value` of an object that `answerSchemaOf` added; any other schema unchanged. */
export function withoutWrapper(schema: JsonObject): JsonObject {
  const { type, properties, required, additionalProperties, ...definitions } = schema;
  if (type !== "object" || additionalProperties !== false || !isJsonObject(properties)) return schema;
  const { value, ...others } = properties;
  if (JSON.stringify(required) !== '["value"]' || !isJsonObject(value) || Object.keys(others).length > 0)
    return schema;
  const inner = { ...value, ...definitions };
  return answerSchemaOf(inner).isWrapped ? inner : schema;
}

const freeName = (taken: JsonObject): string => {
  let name = "answer";
  while (Object.hasOwn(taken, name)) name += "_";
  return name;
};

/** Whether a reference points to the root or into it, but not to its definitions, so that it must follow the root. */
const isOutside = (ref: Json | undefined): ref is string =>
  typeof ref === "string" && ref.startsWith("#") && !/^#\/(\$defs|definitions)\//.test(ref);

const pointsOutside = (schema: Json): boolean =>
  isJsonObject(schema) || Array.isArray(schema)
    ? Object.entries(schema).some(([key, field]) =>
        key === "$ref" ? isOutside(field) : pointsOutside(field),
      )
    : false;

/** The schema with references to the root replaced by references to its definition. */
function withMovedReferences(schema: Json, name: string): Json {
  if (Array.isArray(schema)) return schema.map((one: Json) => withMovedReferences(one, name));
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, field]) => [
      key,
      key === "$ref" && isOutside(field)
        ? `#/$defs/${name}${field.slice(1)}`
        : withMovedReferences(field, name),
    ]),
  );
}

const objectOf = (value: Json): JsonObject => (isJsonObject(value) ? value : {});
