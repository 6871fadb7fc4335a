import type { StandardSchema } from "@moora/agent-core-effects";
import { schemaCheckOf } from "@moora/agent-core-effects/internal";
import type { JsonObject } from "@moora/llm";

/** Keywords whose value is an object of schemas by name. */
const schemasByName: ReadonlySet<string> = new Set([
  "properties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
/** Keywords whose value is data and not a schema. */
const data: ReadonlySet<string> = new Set(["const", "enum", "default", "examples", "required"]);
/** Keywords with regular expressions: those of a stranger may take forever. */
const expressions: ReadonlySet<string> = new Set(["pattern", "patternProperties"]);
/** Keywords that mean something else once `patternProperties` is left out. */
const besideExpressions: ReadonlySet<string> = new Set(["additionalProperties", "unevaluatedProperties"]);

/** A copy of a received schema without regular expressions. What they exclude is left to the server. */
export function withoutExpressions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutExpressions);
  if (typeof schema !== "object" || schema === null) return schema;
  const isOpen = Object.hasOwn(schema, "patternProperties");
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !expressions.has(keyword) && !(isOpen && besideExpressions.has(keyword)))
      .map(([keyword, value]) => [keyword, checkedValue(keyword, value)]),
  );
}

function checkedValue(keyword: string, value: unknown): unknown {
  if (data.has(keyword)) return value;
  if (!schemasByName.has(keyword) || typeof value !== "object" || value === null)
    return withoutExpressions(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withoutExpressions(part)]));
}

/** The check of values by a received schema. */
export type ReceivedCheck = (
  value: unknown,
) => { readonly ok: true } | { readonly ok: false; readonly problem: string };

/** The check of values by a received schema. Throws `BuildError` for an invalid schema. */
export function receivedSchemaCheck(schema: object): ReceivedCheck {
  // A copy of an object is an object; the check refuses one that is not a JSON Schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const check = schemaCheckOf(withoutExpressions(schema) as JsonObject, undefined);
  return (value) => {
    const found = check.check(value);
    if (found instanceof Promise) throw new TypeError("The check of a JSON Schema is synchronous.");
    return found;
  };
}

/** The received schema of arguments as a schema for `defineTool`, which checks it without its regular expressions. */
export function receivedInput(schema: object): StandardSchema<JsonObject> {
  const check = receivedSchemaCheck(schema);
  return {
    "~standard": {
      version: 1,
      vendor: "mcp",
      validate(value) {
        const found = check(value);
        // The root of the schema is an object, and its check has passed.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        return found.ok ? { value: value as JsonObject } : { issues: [{ message: found.problem }] };
      },
    },
  };
}
