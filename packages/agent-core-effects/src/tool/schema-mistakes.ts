import { shownValue } from "@moora/llm/internal";
import { isStandardSchema, type StandardSchema } from "./standard-schema.ts";

/** Why a value cannot be a schema, as the end of a sentence with the fix; undefined if it may be one. */
export function mistakenSchema(schema: unknown): string | undefined {
  if (schema === undefined || schema === null) return "is missing. Give a schema, such as z.object({}).";
  if (isStandardSchema(schema)) return undefined;
  if (typeof schema !== "object") return `must be a schema, such as z.object({}), got ${shownValue(schema)}.`;
  if (isZod3(schema)) return "is a zod 3 schema, which gives no JSON Schema. Use zod 4.";
  const isShape = Object.values(schema).some((field) => isStandardSchema(field) || isZod3(field));
  return isShape ? "is an object of schemas. Wrap it: z.object({ ... })." : undefined;
}

const isZod3 = (schema: unknown): boolean =>
  typeof schema === "object" && schema !== null && "_def" in schema && "safeParse" in schema;

/** The keywords of which a useful JSON Schema has at least one at its root. */
const keywords: ReadonlySet<string> = new Set([
  ..."$ref $defs $schema $id $comment definitions type enum const anyOf oneOf allOf not if properties required".split(
    " ",
  ),
  ..."additionalProperties patternProperties propertyNames minProperties maxProperties items prefixItems".split(
    " ",
  ),
  ..."minItems maxItems minLength maxLength pattern format minimum maximum title description default".split(
    " ",
  ),
]);

/** Whether an object has fields and none of them is a keyword, as in `{ city: "string" }`. */
export const isNoJsonSchema = (schema: object): boolean => {
  const names = Object.keys(schema);
  return names.length > 0 && !names.some((name) => keywords.has(name));
};

/**
 * The path in a zod schema for which JSON Schema cannot be generated, such as `guests[].bornAt`; "" for the root, and for
 * the schema of another library. Searches to a depth of 20.
 */
export function pathWithoutJsonSchema(schema: StandardSchema, depth: number = 0): string {
  if (depth > 20) return "";
  for (const [step, part] of partsOf(schema)) {
    if (hasJsonSchema(part)) continue;
    const rest = pathWithoutJsonSchema(part, depth + 1);
    return step === "" || rest === "" || rest.startsWith("[") ? step + rest : `${step}.${rest}`;
  }
  return "";
}

function hasJsonSchema(schema: StandardSchema): boolean {
  try {
    schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
    return true;
  } catch {
    return false;
  }
}

/** The nested schemas of a zod schema, each with the step of the path that leads to it. */
function partsOf(schema: StandardSchema): readonly (readonly [step: string, part: StandardSchema])[] {
  const def = fieldOf(fieldOf(schema, "_zod"), "def");
  const inner = ["innerType", "in", "left", "right"].map((name) => ["", fieldOf(def, name)] as const);
  const parts: readonly (readonly [string, unknown])[] = [
    ...Object.entries(fieldOf(def, "shape") ?? {}),
    ...["element", "valueType"].map((name) => ["[]", fieldOf(def, name)] as const),
    ...inner,
    ...Object.values(fieldOf(def, "options") ?? {}).map((part) => ["", part] as const),
  ];
  return parts.flatMap(([step, part]) => (isStandardSchema(part) ? [[step, part] as const] : []));
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
