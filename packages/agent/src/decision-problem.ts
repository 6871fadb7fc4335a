import type { AgentParts } from "@moora/agent-core-effects";
import { after, schemaCheckOf } from "@moora/agent-core-effects/internal";
import type { AgentState } from "@moora/agent-core-state-machine";
import { maxJsonItems, recordOf, toolOf } from "@moora/agent-core-state-machine/internal";
import { hasMoreItemsThan } from "@moora/llm/internal";
import type { Decision } from "./agent-event.ts";
import { checkIsParts, checkIsState, checkIsText } from "./check-arguments.ts";
import { invalidDecisionText, isDecision } from "./decision-form.ts";
import { decidedText } from "./decision-to-input.ts";

/** The problem of a decision: a stable `code`, the `path` of the offending value, such as `decision.approve`, and a message. */
export interface DecisionProblem {
  readonly code: "invalid-decision" | "invalid-arguments" | "invalid-answer";
  readonly path: string;
  readonly message: string;
}

type Found = DecisionProblem | undefined;

/**
 * The problem of a decision: changed arguments that do not fit the tool, an answer that does not fit its schema, more
 * than `maxJsonItems` keys and items, or a value that is not a decision. Undefined for a valid decision. Returns a
 * promise only if the schema of the tool is asynchronous.
 */
export function decisionProblem(
  parts: Pick<AgentParts, "tools">,
  state: AgentState,
  toolCallId: string,
  decision: Decision,
): Found | Promise<Found> {
  checkIsParts(parts);
  checkIsState(state);
  checkIsText("toolCallId", toolCallId);
  if (decision === "approve") return undefined;
  const text = isDecision(decision) ? givenText(decision) : undefined;
  if (text === undefined) return invalidDecision(invalidDecisionText(decision));
  // Counted before the value is used: a million keys block the event loop for seconds.
  if (hasMoreItemsThan(text, maxJsonItems))
    return invalidDecision(`A decision must have at most ${maxJsonItems} keys and items; send a part of it.`);
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

/**
 * The JSON text of the arguments, answer or result of a decision; empty if it has none, undefined if it is not JSON.
 */
function givenText(decision: Exclude<Decision, "approve">): string | undefined {
  if ("reject" in decision) return "";
  if ("outcome" in decision) return decision.outcome === "worked" ? jsonText(decision.result) : "";
  return jsonText("approve" in decision ? decision.approve : decision.answer);
}

function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

const invalidDecision = (message: string): DecisionProblem => ({
  code: "invalid-decision",
  path: "decision",
  message,
});
