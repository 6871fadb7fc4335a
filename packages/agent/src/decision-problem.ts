import type { AgentParts } from "@moora/agent-core-effects";
import { after, parseArguments, schemaCheckOf, toolNamed } from "@moora/agent-core-effects/internal";
import type { AgentState } from "@moora/agent-core-state-machine";
import { openCallOf, recordOf, toolOf, toolQuestionOf } from "@moora/agent-core-state-machine/internal";
import type { Decision } from "./agent-event.ts";
import { checkIsParts, checkIsState, checkIsText } from "./check-arguments.ts";
import { invalidDecisionText, isDecision } from "./decision-form.ts";
import { decisionValue, valueProblem } from "./decision-value.ts";
import { decidedText } from "./decision-to-input.ts";

/** The problem of a decision: a stable `code`, the `path` of the offending value, such as `decision.approve`, and a message. */
export interface DecisionProblem {
  readonly code:
    | "invalid-decision"
    | "invalid-arguments"
    | "invalid-answer"
    | "not-json"
    | "ill-formed-string"
    | "hostile-key"
    | "cyclic"
    | "too-deep"
    | "too-large";
  readonly path: string;
  readonly message: string;
}

type Found = DecisionProblem | undefined;

/**
 * The problem of a decision: changed arguments that do not fit the tool, an answer that does not fit its schema, a
 * value that JSON does not keep exactly, or a value that is not a decision. Undefined for a valid decision. Returns a
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
  if (!isDecision(decision)) return invalidDecision(invalidDecisionText(decision));
  const given = decisionValue(decision);
  // Checked before the value is used: a million keys block the event loop for seconds.
  const notJson = given === undefined ? undefined : valueProblem(given);
  if (notJson !== undefined) return notJson;
  const record = recordOf(state, toolCallId);
  if (record === undefined || "reject" in decision || "outcome" in decision) return undefined;
  if ("approve" in decision) {
    const text = decidedText(decision.approve);
    const own = toolNamed(parts.tools, record.name);
    const schema = toolOf(state, record.name)?.schema;
    const problem = after(own?.check(text), (found) =>
      found === undefined && own?.definition.schema !== schema ? argumentsProblem(schema, text) : found,
    );
    return after(problem, (message) =>
      message === undefined ? undefined : { code: "invalid-arguments", path: "decision.approve", message },
    );
  }
  const call = openCallOf(state.reActContext.control, toolCallId);
  const asked = call === undefined ? undefined : toolQuestionOf(state, call);
  const schema = (asked ?? toolOf(state, record.name))?.answerSchema;
  return after(schemaProblem(schema, decision.answer), (message) =>
    message === undefined ? undefined : { code: "invalid-answer", path: "decision.answer", message },
  );
}

/** The problem of arguments for a tool of the session that this release does not have, or has with another schema. */
function argumentsProblem(schema: string | undefined, text: string) {
  const given = parseArguments(text);
  return given.ok ? schemaProblem(schema, given.value) : given.problem;
}

/** The problem of a value for a schema, which is JSON text; undefined without a schema. */
const schemaProblem = (schema: string | undefined, value: unknown) =>
  schema === undefined
    ? undefined
    : after(schemaCheckOf(JSON.parse(schema), undefined).check(value), (checked) =>
        checked.ok ? undefined : checked.problem,
      );

const invalidDecision = (message: string): DecisionProblem => ({
  code: "invalid-decision",
  path: "decision",
  message,
});
