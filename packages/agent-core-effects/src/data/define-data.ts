import {
  applyPatches,
  type AgentState,
  type DataPatch,
  type Immutable,
  type Json,
} from "@moora/agent-core-state-machine";
import { differenceOf, isSameJson, jsonCopy } from "@moora/agent-core-state-machine/internal";
import type { JsonObject } from "@moora/llm";
import { shownValue, type OptionForms } from "@moora/llm/internal";
import { checkOptions } from "../check-options.ts";
import { refuse } from "../errors/build-error.ts";
import { errorText } from "../error-text.ts";
import { isPromise } from "../is-promise.ts";
import { schemaCheckOf } from "../tool/schema-check.ts";
import { isStandardSchema, type OutputOf, type StandardSchema } from "../tool/standard-schema.ts";
import { dataAt } from "./data-at.ts";
import { DataRefused } from "./data-refused.ts";

/**
 * A change of application data: a synchronous function that changes a draft of it. It must have no other effect, because it may
 * run more than once. What it returns is ignored. `before` is the data that the draft is made of, by which a recipe can recognize
 * that others have changed it: `current().data` of a session is the same object until something changes it.
 */
export type Recipe<Value> = (draft: Value, before: unknown) => void;

/** The options of `defineData`. */
export interface DataOptions<Schema extends StandardSchema | JsonObject, Value = OutputOf<Schema>> {
  /** The schema that each value is checked against. A value is stored as it is, not as the schema may convert it. */
  readonly schema: Schema;
  /** The data of a new session. */
  readonly initial: NoInfer<Value>;
  /** The version of the schema, a positive integer. Increase it when stored data has to be converted. Default: 1. */
  readonly version?: number;
  /** Converts stored data of an older version, which it gets as JSON with its version. Default: none. */
  readonly migrate?: (stored: Json, version: number) => NoInfer<Value>;
  /** The JSON Schema of `schema`, for one of which its library cannot make it. Default: none; a library need not make one. */
  readonly jsonSchema?: JsonObject;
}

/** Application data of any type, as runners use it. */
export interface AnyData {
  readonly version: number;
  readonly initial: Json;
  /** Returns the data after a recipe, and the patches that lead to it. Throws `DataRefused`. */
  change(data: Json, recipe: Recipe<unknown>): DataChange;
  /** Returns stored data as this version has it. Throws `DataRefused`. */
  open(stored: Json, version: number): Json;
}

/** Application data, as `defineData` returns it. */
export interface DataDefinition<Value = unknown> extends AnyData {
  change(data: Json, recipe: Recipe<Value>): DataChange;
  /** The data of a state, with its type. Throws `DataRefused` for a state whose data has another version, or none. */
  read(state: Pick<AgentState, "data" | "dataStatus">): Immutable<Value>;
  /** Exists only for types; not set. */
  readonly "~type"?: Value;
}

/** Data after a recipe, and the patches that lead to it. */
export interface DataChange {
  readonly data: Json;
  readonly patches: readonly DataPatch[];
}

/** The type that application data is read with. */
export type DataValue<Definition extends AnyData> =
  Definition extends DataDefinition<infer Value> ? Immutable<Value> : unknown;

/**
 * Defines the data that an application keeps in its sessions: an object or an array. Throws `BuildError` for an invalid schema or
 * version, and for an initial value that does not fit the schema, or that the schema makes another value of.
 */
export function defineData<const Schema extends StandardSchema | JsonObject>(
  options: DataOptions<Schema>,
): DataDefinition<OutputOf<Schema>> {
  checkDataOptions(options);
  const { schema, initial, version = 1, migrate, jsonSchema } = options;
  if (migrate !== undefined && version === 1)
    refuse("migrate of defineData needs a version of 2 or more, got version 1: no stored data is older.");
  const { check } = schemaCheckOf(
    schema,
    jsonSchema ?? anyJsonOf(schema),
    "The schema of defineData",
    "or give it beside as `jsonSchema`",
  );
  const outputOf = (data: Json): unknown => {
    const found = check(data);
    if (isPromise(found)) return refuse("The schema of defineData must check synchronously.");
    if (!found.ok) throw new DataRefused(found.problem);
    return found.value;
  };
  const checked = (value: unknown): Json => {
    const data = dataCopy(value);
    outputOf(data);
    return data;
  };
  return {
    version,
    initial: initialOf(() => checked(initial), outputOf),
    change(data, recipe) {
      const draft = draftOf(data);
      // The schema has checked that the data is a value.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      checkSynchronous(recipe(draft as OutputOf<Schema>, data));
      const patches = differenceOf(data, checked(draft));
      const changed = applyPatches(data, patches);
      if (changed === undefined) throw new DataRefused("it has too many levels.");
      return { data: changed, patches };
    },
    read(state) {
      // Data of this version was checked by this schema.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return dataAt(state, { version }) as Immutable<OutputOf<Schema>>;
    },
    open(stored, storedVersion) {
      if (storedVersion === version) return withHint(() => checked(stored));
      if (storedVersion < version && migrate !== undefined)
        return checked(migrated(() => migrate(stored, storedVersion)));
      const fix =
        storedVersion < version
          ? "Give defineData({ migrate })."
          : "Open the session with the newer release.";
      throw new DataRefused(`it has version ${storedVersion}, and this agent has version ${version}. ${fix}`);
    },
  };
}

/** A JSON Schema that all values fit, for a schema of a library that makes none: no model reads that of data. */
const anyJsonOf = (schema: StandardSchema | JsonObject): JsonObject | undefined =>
  isStandardSchema(schema) && schema["~standard"].jsonSchema === undefined ? {} : undefined;

const forms: OptionForms<DataOptions<StandardSchema>> = {
  schema: "any",
  initial: "any",
  version: "positiveInteger",
  migrate: "function",
  jsonSchema: "any",
};

/** Throws `BuildError` for an unknown or missing option: callers without types may pass any value. */
function checkDataOptions(options: object): void {
  checkOptions("defineData", options, forms, { placeOf: (path) => `${path} of defineData` });
  for (const name of ["schema", "initial"])
    if (Reflect.get(options, name) === undefined) refuse(`${name} of defineData is missing.`);
}

/** Stored data of this version, or why it is refused, with the fix. */
function withHint(read: () => Json): Json {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DataRefused)) throw error;
    throw new DataRefused(`${error.problem} If the schema has changed, increase version and give migrate.`);
  }
}

function migrated<Value>(migrate: () => Value): Value {
  let value: Value;
  try {
    value = migrate();
  } catch (error) {
    throw new DataRefused(`migrate failed: ${errorText(error)}`, { cause: error });
  }
  if (isPromise(value)) throw new DataRefused("migrate must be synchronous, and returned a promise.");
  return value;
}

/** The data of a new session. A schema that makes another value of it describes data that is not there. */
function initialOf(read: () => Json, outputOf: (data: Json) => unknown): Json {
  try {
    const initial = read();
    if (typeof initial !== "object" || initial === null)
      return refuse(`initial of defineData must be an object or an array, got ${shownValue(initial)}.`);
    if (!isSameJson(outputOf(initial), initial)) {
      refuse(
        "initial of defineData is not what its schema makes of it: a default, a conversion or an unknown field. Data is stored as it is. Give the value that the schema makes of it.",
      );
    }
    return initial;
  } catch (error) {
    if (error instanceof DataRefused) refuse(`initial of defineData does not fit: ${error.problem}`);
    throw error;
  }
}

/** A copy of a value that JSON keeps. Throws `DataRefused`. */
function dataCopy(value: unknown): Json {
  const found = jsonCopy(value);
  if ("copy" in found) return found.copy;
  const { path, message } = found.problem;
  throw new DataRefused(path === "" ? message : `${path}: ${message}`);
}

/** A copy of data that may be changed. */
function draftOf(data: Json): unknown {
  if (typeof data !== "object" || data === null) return data;
  if (Array.isArray(data)) return data.map(draftOf);
  const draft: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data)) draft[key] = draftOf(value);
  return draft;
}

/** Callers without types may give an asynchronous recipe. One that is a generator would do nothing. */
function checkSynchronous(result: unknown): void {
  if (Object.prototype.toString.call(result).endsWith("Generator]"))
    throw new DataRefused("a recipe must be a plain function, and this one is a generator.");
  if (!isPromise(result)) return;
  result.catch(() => undefined);
  throw new DataRefused("a recipe must be synchronous, and this one returned a promise.");
}
