import { graphProblems } from "./control/graph.ts";
import { agentEventSchema, type AgentInput } from "./input.ts";
import { isStorable, jsonCopy, pathToText, type JsonProblem } from "./json-copy.ts";

/** Why a value is not an input: a problem of `jsonCopy`, an unknown type, or an invalid field, which `path` names. */
export interface InputProblem {
  readonly code: JsonProblem["code"] | "unknown-type" | "wrong-shape";
  readonly path: string;
  readonly message: string;
}

/** The result of `parseInput`: a copy of the input, or its first problem. */
export type ParsedInput =
  | { readonly ok: true; readonly input: AgentInput }
  | { readonly ok: false; readonly problem: InputProblem };

/**
 * Parses an input from outside. The result is a copy, independent of the original. Unknown fields are left out. Does not
 * throw for any value.
 */
export function parseInput(value: unknown): ParsedInput {
  const copied = jsonCopy(value);
  if ("problem" in copied) return { ok: false, problem: copied.problem };
  const parsed = shaped(copied.copy);
  const graphProblem = parsed.ok ? graphProblemOf(parsed.input) : undefined;
  if (graphProblem === undefined) return parsed;
  return { ok: false, problem: { code: "wrong-shape", path: "config.graph", message: graphProblem } };
}

/** The maximum length of a problem of a graph, in characters: it contains names, which may be long. */
const maxProblemLength = 500;

const graphProblemOf = (input: AgentInput): string | undefined =>
  input.type === "agent-configured" && input.config?.graph !== undefined
    ? graphProblems(input.config.graph)[0]?.slice(0, maxProblemLength).toWellFormed()
    : undefined;

/** Like `parseInput`, without a copy or a check of the graph: for a value that `JSON.parse` returned and that is not used elsewhere. */
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
