import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { fieldsOf, requiredKeys, resolvePointer } from "./schema-facts.ts";

/** What is known of references. */
type Known = Map<string, JsonObject | undefined>;
/** The longest union that a property gets, in characters. A longer one would grow with each union around it. */
const longestUnion = 20_000;

/**
 * The objects that fit a schema, as one schema of an object without a union at its root: equal, or wider. Undefined if no object
 * fits. A schema of an object that does not mention other keys is taken to have none.
 */
export function objectSchemaOf(schema: JsonObject): JsonObject | undefined {
  const found = objectsOf(schema, schema, new Map());
  return found && { ...found, type: "object" };
}

/** `known` has the results for references; that of one which is open is any object. */
function objectsOf(schema: Json, root: JsonObject, known: Known): JsonObject | undefined {
  if (!isJsonObject(schema)) return schema === false ? undefined : {};
  const { anyOf: some, oneOf, allOf, $ref, enum: values, const: value, type, ...own } = schema;
  if (type !== undefined && ![type].flat().includes("object")) return undefined;
  const listed = value === undefined ? values : [value];
  if (Array.isArray(listed) && !listed.some((one: Json) => isJsonObject(one))) return undefined;
  const parts: (JsonObject | undefined)[] = [own];
  if (typeof $ref === "string" && !known.has($ref)) {
    known.set($ref, {});
    known.set($ref, objectsOf(resolvePointer(root, $ref) ?? true, root, known));
  }
  if (typeof $ref === "string") parts.push(known.get($ref));
  if (Array.isArray(allOf)) parts.push(...allOf.map((one: Json) => objectsOf(one, root, known)));
  let joined = parts.reduce((sum, part) => sum && part && intersectionOf(sum, part));
  for (const union of [some, oneOf].filter((branches) => Array.isArray(branches))) {
    const branches = union.map((one: Json) => objectsOf(one, root, known));
    joined &&= unionOf(
      joined,
      branches.filter((one) => one !== undefined),
    );
  }
  return joined && requiredKeys(joined).some((key) => fieldsOf(joined)[key] === false) ? undefined : joined;
}

/** A schema for what fits two schemas: equal, or wider where both have the same keyword. */
export function intersectionOf(one: JsonObject, other: JsonObject): JsonObject {
  const fields = Object.entries({ ...fieldsOf(other), ...fieldsOf(one) }).map(([name, field]) => {
    const second = ownField(fieldsOf(other), name);
    if (!Object.hasOwn(fieldsOf(one), name) || second === undefined) return [name, field];
    if (second === false || field === true) return [name, second];
    return [name, isJsonObject(second) && isJsonObject(field) ? intersectionOf(field, second) : field];
  });
  const properties = Object.fromEntries(fields);
  const joined: JsonObject = { ...other, ...one, ...(fields.length > 0 && { properties }) };
  const required = [...new Set([...requiredKeys(one), ...requiredKeys(other)])];
  return required.length === 0 ? joined : { ...joined, required };
}

/** A schema for what fits `base` and at least one branch: what all of them require, and the properties of each. */
function unionOf(base: JsonObject, branches: readonly JsonObject[]): JsonObject | undefined {
  const schemas = branches.map((branch) => intersectionOf(base, branch));
  const [first, ...others] = schemas;
  if (first === undefined || others.length === 0) return first;
  const names = new Set(schemas.flatMap((schema) => Object.keys(fieldsOf(schema))));
  const fields = [...names].map((name) => [
    name,
    anyOf(schemas.flatMap((schema) => ownField(fieldsOf(schema), name) ?? unnamedOf(schema) ?? [])),
  ]);
  const unnamed = schemas.map((schema) => unnamedOf(schema)).filter((one) => one !== undefined);
  return {
    ...base,
    properties: Object.fromEntries(fields),
    required: requiredKeys(first).filter((name) => others.every((one) => requiredKeys(one).includes(name))),
    ...(unnamed.length === schemas.length && { additionalProperties: anyOf(unnamed) }),
  };
}

/** The schema of the keys that a schema does not name; undefined if it does not mention them. */
const unnamedOf = (schema: JsonObject): Json | undefined =>
  "patternProperties" in schema ? true : schema["additionalProperties"];

/** A schema for what fits at least one of several schemas. */
function anyOf(schemas: readonly Json[]): Json {
  const texts = new Map([...new Set(schemas)].map((one) => [JSON.stringify(one), one]));
  const possible = [...texts.values()].filter((one) => one !== false);
  const [first = false] = possible;
  if (schemas.includes(true) || [...texts.keys()].join("").length > longestUnion) return true;
  return possible.length < 2 ? first : { anyOf: possible };
}

const ownField = (fields: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;
