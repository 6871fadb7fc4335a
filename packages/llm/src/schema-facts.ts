import { isJsonObject, type Json, type JsonObject } from "./json.ts";

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

/** Whether a schema contains itself by `$ref`. */
export function isRecursive(root: JsonObject): boolean {
  const reaches = (schema: Json, open: readonly string[]): boolean => {
    if (Array.isArray(schema)) return schema.some((one: Json) => reaches(one, open));
    if (!isJsonObject(schema)) return false;
    const ref = schema["$ref"];
    if (typeof ref === "string") {
      const target = resolvePointer(root, ref);
      return open.includes(ref) || (target !== undefined && reaches(target, [...open, ref]));
    }
    return Object.entries(schema).some(([key, one]) => !definitions.includes(key) && reaches(one, open));
  };
  return reaches(root, ["#"]);
}

const definitions = ["$defs", "definitions"];

const areDistinct = (values: readonly (string | undefined)[]): boolean =>
  !values.includes(undefined) && new Set(values).size === values.length;

/** The type of a schema, the same one for types that overlap. */
function typeOf(schema: JsonObject): string | undefined {
  const { type } = schema;
  return typeof type !== "string" ? undefined : type === "integer" ? "number" : type;
}

const requiredKeys = (schema: JsonObject): readonly string[] => {
  const { required } = schema;
  return Array.isArray(required) ? required.filter((key: Json) => typeof key === "string") : [];
};

/** The only value of a required key, as JSON text; undefined if it may have several. */
function onlyValue(schema: JsonObject, key: string): string | undefined {
  const { properties } = schema;
  if (typeOf(schema) !== "object" || !requiredKeys(schema).includes(key)) return undefined;
  const property = isJsonObject(properties) ? properties[key] : undefined;
  if (!isJsonObject(property)) return undefined;
  if ("const" in property) return JSON.stringify(property["const"]);
  const { enum: values } = property;
  return Array.isArray(values) && values.length === 1 ? JSON.stringify(values[0]) : undefined;
}

function resolveRef(schema: Json, root: JsonObject): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  const ref = schema["$ref"];
  return typeof ref === "string" ? resolvePointer(root, ref) : schema;
}

/** The schema at a local reference such as `#/$defs/node`. */
function resolvePointer(root: JsonObject, ref: string): JsonObject | undefined {
  let at: Json | undefined = root;
  for (const step of ref.split("/").slice(1)) {
    const key: string = step.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return isJsonObject(at) ? at : undefined;
}
