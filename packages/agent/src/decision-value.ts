import type { JsonProblem } from "@moora/agent-core-state-machine";
import { jsonCopy } from "@moora/agent-core-state-machine/internal";
import type { Decision } from "./agent-event.ts";

/** The value that a decision contains: changed arguments, an answer, or the result of a call. */
interface DecisionValue {
  /** The path of the value in a message, such as `decision.approve`. */
  readonly path: string;
  readonly value: unknown;
}

/** The value that a decision contains; undefined for a decision without one. */
export function decisionValue(decision: Decision): DecisionValue | undefined {
  if (decision === "approve" || "reject" in decision) return undefined;
  if ("outcome" in decision)
    return decision.outcome === "worked" ? { path: "decision.result", value: decision.result } : undefined;
  return "approve" in decision
    ? { path: "decision.approve", value: decision.approve }
    : { path: "decision.answer", value: decision.answer };
}

/** The problem of a value that JSON does not keep exactly. A string is text, and has none. */
export function valueProblem({ path, value }: DecisionValue): JsonProblem | undefined {
  if (typeof value === "string") return undefined;
  const copied = jsonCopy(value);
  if ("copy" in copied) return undefined;
  const { problem } = copied;
  const separator = problem.path === "" || problem.path.startsWith("[") ? "" : ".";
  return { ...problem, path: `${path}${separator}${problem.path}` };
}

/** The same decision with a copy of its value. A decision with a value that JSON does not keep is returned unchanged. */
export function withCopiedValue(decision: Exclude<Decision, "approve">): Decision {
  const { value } = decisionValue(decision) ?? {};
  if (value === undefined || typeof value === "string") return { ...decision };
  const copied = jsonCopy(value);
  if ("problem" in copied) return decision;
  if ("outcome" in decision) return { outcome: "worked", result: copied.copy };
  return "approve" in decision ? { approve: copied.copy } : { answer: copied.copy };
}
