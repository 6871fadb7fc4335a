import { pathToText } from "@moora/agent-core-state-machine/internal";
import { truncatedToBytes } from "../truncate.ts";
import { valueAt, redactValues } from "./redact-values.ts";
import type { JsonObject } from "@moora/llm";

/** The part of the Standard Schema interface (version 1) that tools use; zod, valibot, arktype and others have it. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    /** The JSON Schema extension of the interface. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Readonly<Record<string, unknown>>;
    };
  };
}

/** The result of a Standard Schema: the output value, or the issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** An issue that a Standard Schema reports about a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of the output of a schema. */
export type OutputOf<Schema> = Schema extends StandardSchema<infer Output> ? Output : JsonObject;

/** The type of what a schema accepts. */
export type ArgumentsOf<Schema> = Schema extends {
  readonly "~standard": { readonly types?: { readonly input: infer Input } | undefined };
}
  ? Input
  : JsonObject;

/** Whether a value is a Standard Schema: an object or a function with the key `~standard`. */
export const isStandardSchema = (schema: unknown): schema is StandardSchema =>
  (typeof schema === "object" || typeof schema === "function") && schema !== null && "~standard" in schema;

/** A path in which the indices of arrays are numbers, as not all libraries give them. */
function withIndices(path: readonly PropertyKey[], value: unknown): readonly PropertyKey[] {
  let at = value;
  return path.map((key) => {
    const isIndex = Array.isArray(at) && typeof key === "string" && /^\d+$/.test(key);
    at = typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined;
    return isIndex ? Number(key) : key;
  });
}

/** The maximum length of one list of issues, in bytes. */
const mostBytes = 1_600;

/** The text of issues for the model: the path and the message of each, without values. */
export function issuesToText(issues: readonly StandardIssue[], value: unknown): string {
  const shown = issues.slice(0, 10).map(({ path = [], message }) => {
    const keys = path.map((part) => (typeof part === "object" ? part.key : part));
    const where = pathToText(withIndices(keys, value)).toWellFormed();
    const what = redactValues(message, valueAt(value, keys));
    return where === "" ? what : `${where}: ${what}`;
  });
  const rest = issues.length - shown.length;
  const text = [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join("; ").replaceAll(".; ", ". ");
  return truncatedToBytes(text === "" ? "It does not fit the schema." : text, mostBytes).toWellFormed();
}
