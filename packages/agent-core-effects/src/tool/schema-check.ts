import { Validator, type Schema } from "@cfworker/json-schema";
import type { JsonObject } from "@moora/llm";
import { after } from "../is-promise.ts";
import {
  isStandardSchema,
  issuesToText,
  type StandardResult,
  type StandardSchema,
} from "./standard-schema.ts";

/** A schema in use: what the model is told of it, and how a value is held against it. */
export interface SchemaCheck<Output> {
  readonly json: JsonObject;
  check(value: unknown): CheckedValue<Output> | Promise<CheckedValue<Output>>;
}

export type CheckedValue<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly problem: string };

/**
 * Takes a Standard Schema that gives JSON Schema, any other with its JSON Schema beside it, or a JSON Schema alone.
 * Throws where there is no JSON Schema to be had: a model cannot be asked for what it is not told.
 */
export function schemaCheckOf(
  schema: StandardSchema | JsonObject,
  beside: JsonObject | undefined,
): SchemaCheck<unknown> {
  if (!isStandardSchema(schema)) return jsonSchemaCheck(schema);
  const { jsonSchema, vendor, validate } = schema["~standard"];
  const json = beside ?? jsonSchema?.input({ target: "draft-2020-12" });
  if (json === undefined)
    throw new TypeError(`This ${vendor} schema gives no JSON Schema; put one beside it as \`schema\`.`);
  return {
    json: withoutDialect(json),
    check: (value) => after(validate(value), (result) => standardToChecked(result, value)),
  };
}

const standardToChecked = (result: StandardResult<unknown>, given: unknown): CheckedValue<unknown> =>
  result.issues === undefined
    ? { ok: true, value: result.value }
    : { ok: false, problem: issuesToText(result.issues, given) };

/** What these say is that something within does not fit, which is told by itself. */
const onTheWay: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "prefixItems",
  "patternProperties",
  "$ref",
  "allOf",
]);

function jsonSchemaCheck(schema: JsonObject): SchemaCheck<unknown> {
  const json = withoutDialect(schema);
  // The validator's own type of a schema is a mutable record of the same things.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const validator = new Validator(JSON.parse(JSON.stringify(json)) as Schema, "2020-12", false);
  return {
    json,
    check(value) {
      const { valid, errors } = validator.validate(value);
      if (valid) return { ok: true, value };
      const own = errors.filter(({ keyword }) => !onTheWay.has(keyword));
      const issues = (own.length === 0 ? errors : own).map(({ instanceLocation, error }) => ({
        message: error,
        path: instanceLocation.split("/").slice(1),
      }));
      return { ok: false, problem: issuesToText(issues, value) };
    },
  };
}

/** Providers refuse, or ignore, the name of the dialect. JSON text is what the schema is kept as: it is JSON. */
function withoutDialect(schema: Readonly<Record<string, unknown>>): JsonObject {
  const { $schema: _, ...rest } = schema;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(JSON.stringify(rest)) as JsonObject;
}
