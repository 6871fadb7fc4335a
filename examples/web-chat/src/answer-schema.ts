import type { Question } from "@moora/agent";
import type { useAgentValue } from "@moora/react";

type View = Parameters<Parameters<typeof useAgentValue>[0]>[0];

/** The part of JSON Schema that a form can show: one value, or an object of such values. Questions of MCP servers need no more. */
export interface FieldSchema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}

/** The JSON text of the schema of an answer; undefined if any answer fits, and for sub-agents, whose state is not here. */
export function answerSchemaAt(
  { toolCalls, tools }: View,
  { toolCallId, name, path }: Question,
): string | undefined {
  if (path !== undefined) return undefined;
  return (toolCalls[toolCallId]?.asked ?? tools[name])?.answerSchema;
}

/** The value of a form that shows a schema. The fields of an object have its names, a single value has the name `answer`. */
export function formToAnswer(form: FormData, schema: FieldSchema): unknown {
  const { properties } = schema;
  if (properties === undefined) return fieldValue(form, "answer", schema);
  const entries = Object.entries(properties).map(([name, field]) => [name, fieldValue(form, name, field)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The value of one field; undefined for one that was left empty. */
function fieldValue(form: FormData, name: string, { type, items }: FieldSchema): unknown {
  if (type === "boolean") return form.has(name);
  if (type === "array" && items?.enum !== undefined) return form.getAll(name);
  const text = form.get(name);
  if (typeof text !== "string" || text === "") return undefined;
  if (type === "number" || type === "integer") return Number(text);
  return type === undefined || type === "string" ? text : jsonOr(text);
}

/** A value that the form has no field for is written as JSON. The server checks it. */
function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
