import { Validator, type Schema } from "@cfworker/json-schema";
import type { JsonObject } from "@moora/llm";
import { after } from "../is-promise.ts";
import { refuse } from "../errors/build-error.ts";
import { errorText } from "../error-text.ts";
import { jsonObjectOf } from "../request/json-object.ts";
import { jsonSchemaProblem } from "./json-schema-problem.ts";
import { isNoJsonSchema, mistakenSchema, pathWithoutJsonSchema } from "./schema-mistakes.ts";
import {
  isStandardSchema,
  issuesToText,
  type StandardResult,
  type StandardSchema,
} from "./standard-schema.ts";

/** A schema for the model and the agent: its JSON Schema, and the check of a value. */
export interface SchemaCheck<Output> {
  readonly json: JsonObject;
  check(value: unknown): CheckedValue<Output> | Promise<CheckedValue<Output>>;
}

/** The result of a check: the output of the schema, or the problem. */
export type CheckedValue<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly problem: string };

/**
 * Creates the check of a schema. Accepts a Standard Schema that provides JSON Schema, any other Standard Schema with its
 * JSON Schema as `beside`, or a JSON Schema. `place` names the schema in messages, and `fix` the option that gives `beside`. Throws `BuildError` for an invalid schema
 * and for one without a JSON Schema for the model.
 */
export function schemaCheckOf(
  schema: StandardSchema | JsonObject,
  beside: Readonly<Record<string, unknown>> | undefined,
  place: string = "The schema",
  fix: string = "a tool may also give it beside as `schema`",
): SchemaCheck<unknown> {
  const mistake = mistakenSchema(schema);
  if (mistake !== undefined) return refuse(`${place} ${mistake}`);
  if (!isStandardSchema(schema)) return jsonSchemaCheck(checkedJsonSchema(schema, place, true));
  const json =
    beside === undefined
      ? jsonSchemaOf(schema, place, fix)
      : checkedJsonSchema(beside, `${place}, as JSON Schema,`, false);
  return {
    json: withoutDialect(json),
    check: (value) =>
      after(schema["~standard"].validate(value), (result) => standardToChecked(result, value)),
  };
}

function jsonSchemaOf(schema: StandardSchema, place: string, fix: string): Readonly<Record<string, unknown>> {
  const { jsonSchema, vendor } = schema["~standard"];
  if (jsonSchema === undefined && "_zod" in schema) {
    return refuse(
      `${place} is a schema of zod/mini, which gives no JSON Schema by itself. Use a schema of zod; a tool may also give the JSON Schema beside: schema: z.toJSONSchema(input).`,
    );
  }
  if (jsonSchema === undefined) {
    return refuse(
      `${place} is a schema of ${vendor} that gives no JSON Schema. Use a library or version that does, such as zod 4 without its mini, or a JSON Schema; ${fix}.`,
    );
  }
  try {
    return jsonSchema.input({ target: "draft-2020-12" });
  } catch (error) {
    const path = pathWithoutJsonSchema(schema);
    return refuse(
      `${place} has no JSON Schema${path === "" ? "" : ` at ${path}`}: ${errorText(error)}. Use a type that JSON has, such as a string, and convert it in your code.`,
    );
  }
}

/**
 * A JSON copy of a JSON Schema, without the symbol keys that libraries add. Throws `BuildError` for an invalid one. `isExecuted`:
 * values are checked by it.
 */
function checkedJsonSchema(schema: object, place: string, isExecuted: boolean): JsonObject {
  const copy = jsonCopyOf(schema);
  if (copy === undefined || isNoJsonSchema(copy)) {
    return refuse(
      `${place} is not a JSON Schema. Give a schema of a library such as zod 4, or an object such as { type: "object", properties: { ... } }.`,
    );
  }
  const problem = jsonSchemaProblem(copy, isExecuted);
  return problem === undefined ? copy : refuse(`${place} has a mistake: ${problem}`);
}

function jsonCopyOf(schema: object): JsonObject | undefined {
  try {
    return jsonObjectOf(JSON.stringify(schema));
  } catch {
    return undefined;
  }
}

const standardToChecked = (result: StandardResult<unknown>, given: unknown): CheckedValue<unknown> =>
  result.issues === undefined
    ? { ok: true, value: result.value }
    : { ok: false, problem: issuesToText(result.issues, given) };

/** Keywords whose errors only repeat that a nested value is invalid, which has an error of its own. */
const outerKeywords: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "prefixItems",
  "patternProperties",
  "additionalProperties",
  "$ref",
  "allOf",
]);

function jsonSchemaCheck(schema: JsonObject): SchemaCheck<unknown> {
  const json = withoutDialect(schema);
  // The validator's type of a schema is the mutable form of the same type.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const validator = new Validator(JSON.parse(JSON.stringify(json)) as Schema, "2020-12", false);
  return {
    json,
    check(value) {
      const { valid, errors } = validator.validate(value);
      if (valid) return { ok: true, value };
      const own = errors.filter(({ keyword }) => !outerKeywords.has(keyword));
      const issues = (own.length === 0 ? errors : own).map(({ instanceLocation, error, keyword }) => ({
        message: keyword === "false" ? "The schema has no such field. Leave it out." : error,
        path: instanceLocation.split("/").slice(1),
      }));
      return { ok: false, problem: issuesToText(issues, value) };
    },
  };
}

/** A JSON copy of a schema without `$schema`, which providers refuse or ignore. */
function withoutDialect(schema: Readonly<Record<string, unknown>>): JsonObject {
  const { $schema: _, ...rest } = schema;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(JSON.stringify(rest)) as JsonObject;
}
