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

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema makes of a value that fits. */
export type OutputOf<Schema> = Schema extends StandardSchema<infer Output> ? Output : JsonObject;

export const isStandardSchema = (schema: unknown): schema is StandardSchema =>
  (typeof schema === "object" || typeof schema === "function") && schema !== null && "~standard" in schema;

/** Issues as the model reads them: where and what, never the value itself. */
export function issuesToText(issues: readonly StandardIssue[]): string {
  const shown = issues.slice(0, 10).map(({ path = [], message }) => {
    const where = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    return where === "" ? message : `${where}: ${message}`;
  });
  const rest = issues.length - shown.length;
  return [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join("; ");
}
