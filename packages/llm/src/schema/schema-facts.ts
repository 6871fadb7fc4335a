import { isJsonObject, type Json, type JsonObject } from "../json.ts";

/** Whether no value matches two branches: their types differ, or a required key has a different constant in each. */
export function areDisjoint(branches: Json, root: JsonObject): boolean {
  if (!Array.isArray(branches)) return false;
  const schemas = branches
    .map((branch: Json) => resolveRef(branch, root))
    .filter((schema) => schema !== undefined);
  if (schemas.length < branches.length) return false;
  if (areDistinct(schemas.map((schema) => typeOf(schema)))) return true;
  const [first] = schemas;
  if (first === undefined) return false;
  return requiredKeys(first).some((key) => areDistinct(schemas.map((schema) => onlyValue(schema, key))));
}

const areDistinct = (values: readonly (string | undefined)[]): boolean =>
  !values.includes(undefined) && new Set(values).size === values.length;

/** The type of a schema, the same one for types that overlap. */
function typeOf(schema: JsonObject): string | undefined {
  const { type } = schema;
  return typeof type !== "string" ? undefined : type === "integer" ? "number" : type;
}

/** The properties of an object, by name. */
export const fieldsOf = ({ properties }: JsonObject): JsonObject =>
  isJsonObject(properties) ? properties : {};

/** The keys that an object must have. */
export const requiredKeys = (schema: JsonObject): readonly string[] => {
  const { required } = schema;
  return Array.isArray(required) ? [...new Set(required.filter((key: Json) => typeof key === "string"))] : [];
};

/** The only value of a required key, as JSON text; undefined if it may have several. */
function onlyValue(schema: JsonObject, key: string): string | undefined {
  if (typeOf(schema) !== "object" || !requiredKeys(schema).includes(key)) return undefined;
  const property = fieldsOf(schema)[key];
  if (!isJsonObject(property)) return undefined;
  const { const: value = null, enum: values = "const" in property ? [value] : [] } = property;
  return Array.isArray(values) && values.length === 1 ? JSON.stringify(values[0]) : undefined;
}

function resolveRef(schema: Json, root: JsonObject): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  const ref = schema["$ref"];
  const target = typeof ref === "string" ? resolvePointer(root, ref) : schema;
  return isJsonObject(target) ? target : undefined;
}

/** The schema at a local reference such as `#/$defs/node`; undefined if there is none. */
export function resolvePointer(root: JsonObject, ref: string): Json | undefined {
  if (!/^#(\/|$)/.test(ref)) return undefined;
  let at: Json | undefined = root;
  for (const step of ref.split("/").slice(1)) {
    const key = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    at = typeof at === "object" && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
  }
  return at;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
