import type { JsonObject } from "@moora/llm";

// Inputs are validated against their schema before a tool runs: a field is missing or has its type.

export function textAt(input: JsonObject, name: string, otherwise: string = ""): string {
  const value = fieldAt(input, name);
  return typeof value === "string" ? value : otherwise;
}

export function countAt(input: JsonObject, name: string, otherwise: number): number {
  const value = fieldAt(input, name);
  return typeof value === "number" ? value : otherwise;
}

export const flagAt = (input: JsonObject, name: string): boolean => fieldAt(input, name) === true;

const fieldAt = (input: JsonObject, name: string): unknown =>
  Object.hasOwn(input, name) ? input[name] : undefined;
