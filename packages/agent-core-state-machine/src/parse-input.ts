import { agentEventSchema, type AgentInput } from "./input.ts";
import { isStorable, jsonCopy, pathToText, type JsonProblem } from "./json-copy.ts";

/** Why a value is not an input: what `jsonCopy` refuses, an unknown type, or a field that does not fit. */
export interface InputProblem {
  readonly code: JsonProblem["code"] | "unknown-type" | "wrong-shape";
  readonly path: string;
  readonly message: string;
}

/** The result of `parseInput`: a copy of the input, or what is wrong with the value. */
export type ParsedInput =
  | { readonly ok: true; readonly input: AgentInput }
  | { readonly ok: false; readonly problem: InputProblem };

/**
 * The way in from outside. The input is a copy: changing the original later changes nothing. Fields that no input has
 * are left out. Nothing is thrown, whatever the value is.
 */
export function parseInput(value: unknown): ParsedInput {
  const copied = jsonCopy(value);
  return "problem" in copied ? { ok: false, problem: copied.problem } : shaped(copied.copy);
}

/** The same for a value that `JSON.parse` returned and that has no other owner: it is not copied. */
export const parseStoredInput = (value: unknown): ParsedInput =>
  isStorable(value) ? shaped(value) : parseInput(value);

function shaped(value: unknown): ParsedInput {
  const parsed = agentEventSchema.safeParse(value);
  if (parsed.success) return { ok: true, input: parsed.data };
  const issue = parsed.error.issues[0];
  const path = pathToText(issue?.path ?? []);
  if (path === "type" || path === "")
    return { ok: false, problem: { code: "unknown-type", path: "type", message: "No input has this type." } };
  return { ok: false, problem: { code: "wrong-shape", path, message: issue?.message ?? "Wrong shape." } };
}
