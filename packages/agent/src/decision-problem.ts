import { after, schemaCheckOf, type AgentParts } from "@moora/agent-core-effects";
import { recordOf, toolOf, type AgentState } from "@moora/agent-core-state-machine";
import type { Decision } from "./agent-event.ts";
import { decidedText } from "./decision-to-input.ts";

export interface DecisionProblem {
  readonly code: "invalid-decision" | "invalid-arguments" | "invalid-answer";
  readonly path: string;
  readonly message: string;
}

type Found = DecisionProblem | undefined;

/**
 * Why a decision cannot be taken: changed arguments that do not fit the tool, an answer that does not fit its schema,
 * or what is no decision at all. Undefined when it can be; known at once where the schemas answer at once.
 */
export function decisionProblem(
  parts: Pick<AgentParts, "tools">,
  state: AgentState,
  toolCallId: string,
  decision: Decision,
): Found | Promise<Found> {
  if (decision === "approve") return undefined;
  if (!isDecision(decision))
    return {
      code: "invalid-decision",
      path: "decision",
      message:
        'A decision must be "approve", { reject }, { approve }, { answer } or, for an unknown outcome, { outcome }.',
    };
  const record = recordOf(state, toolCallId);
  if (record === undefined || "reject" in decision || "outcome" in decision) return undefined;
  if ("approve" in decision) {
    const problem = parts.tools.get(record.name)?.check(decidedText(decision.approve));
    return after(problem, (message) =>
      message === undefined ? undefined : { code: "invalid-arguments", path: "decision.approve", message },
    );
  }
  const schema = toolOf(state, record.name)?.answerSchema;
  if (schema === undefined) return undefined;
  return after(schemaCheckOf(JSON.parse(schema), undefined).check(decision.answer), (checked) =>
    checked.ok ? undefined : { code: "invalid-answer", path: "decision.answer", message: checked.problem },
  );
}

/** Hosts without types may say anything; what is said instead of a call or an answer has to be JSON. */
function isDecision(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if ("reject" in value) return typeof value.reject === "string";
  if ("outcome" in value) return isOutcome(value);
  if ("approve" in value) return isJson(value.approve);
  return "answer" in value && isJson(value.answer);
}

function isOutcome(value: {
  readonly outcome: unknown;
  readonly result?: unknown;
  readonly reason?: unknown;
}): boolean {
  const isReason = value.reason === undefined || typeof value.reason === "string";
  if (value.outcome === "worked") return isJson(value.result);
  return (
    value.outcome === "run-again" || ((value.outcome === "failed" || value.outcome === "unknown") && isReason)
  );
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
