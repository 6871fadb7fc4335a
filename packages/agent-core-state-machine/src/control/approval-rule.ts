import type { ApprovalPolicy, Risk } from "../config-parts.ts";
import type { AgentState, ToolCallRecord, ToolDefinition } from "../state.ts";
import { namesTool, toolOf } from "./calls.ts";
import type { AskingStatus } from "./control.ts";

/**
 * Why a person is asked about a call. `policy`: the approval policy asks about all calls, or about this tool. `risk`: it asks
 * about calls of this risk. `predicate`: its predicate picked the call, or gave no result. `tool`: the tool asks about each of its
 * calls. `question`: the call is a question, of the model or of its tool. `interrupted`: the call was interrupted, and its outcome
 * is not known.
 */
export type QuestionReason = "policy" | "risk" | "predicate" | "tool" | "question" | "interrupted";

type ApprovalRule = Exclude<QuestionReason, "interrupted">;

/** What of a call decides whether a person is asked. */
type JudgedCall = Pick<ToolCallRecord, "name" | "problem" | "needsApproval">;

/**
 * The first rule by which a person is asked before the call runs; undefined if none applies. In order: a tool with `asksHuman`
 * asks; the policy `always` asks; the tool's own `approval`; the policy. A call that cannot run, of an unknown tool or with
 * invalid arguments, does not ask: it fails.
 */
export function approvalRuleOf(state: AgentState, call: JudgedCall): ApprovalRule | undefined {
  const tool = toolOf(state, call.name);
  if (tool === undefined || call.problem !== undefined) return undefined;
  const { policy } = state.config.approval;
  if (tool.asksHuman === true) return "question";
  if (policy === "always") return "policy";
  if (tool.approval !== undefined) return tool.approval === "always" ? "tool" : undefined;
  return policyRule(state, policy, call, tool);
}

/** Whether a person is asked before the call runs. */
export const needsHuman = (state: AgentState, call: JudgedCall): boolean =>
  approvalRuleOf(state, call) !== undefined;

const risks: readonly Risk[] = ["low", "medium", "high", "critical"];

/** The rule of a policy other than `always`. The result of a predicate is part of the call; without a result it asks. */
function policyRule(
  state: AgentState,
  policy: Exclude<ApprovalPolicy, "always">,
  call: JudgedCall,
  tool: ToolDefinition,
): ApprovalRule | undefined {
  if (policy === "never") return undefined;
  if ("above" in policy)
    return risks.indexOf(tool.risk ?? "low") >= risks.indexOf(policy.above) ? "risk" : undefined;
  if ("tools" in policy) return namesTool(state, policy.tools, call.name) ? "policy" : undefined;
  return (call.needsApproval ?? true) ? "predicate" : undefined;
}

/**
 * Why a person is asked this question about a call. A question that a policy of before asked has the reason `policy`: the state
 * does not contain earlier policies.
 */
export function questionReasonOf(
  state: AgentState,
  call: JudgedCall,
  about: AskingStatus["about"],
): QuestionReason {
  switch (about) {
    case "approval":
      return approvalRuleOf(state, call) ?? "policy";
    case "answer":
      return "question";
    case "outcome":
      return "interrupted";
  }
}

/** Whether a tool has a greater risk than before. */
export const isRiskier = (before: ToolDefinition, now: ToolDefinition): boolean =>
  risks.indexOf(now.risk ?? "low") > risks.indexOf(before.risk ?? "low");

/** The risk of a call, by the definition of its tool; undefined if the agent does not have the tool. */
export function riskOf(state: Pick<AgentState, "tools">, name: string): Risk | undefined {
  const tool = toolOf(state, name);
  return tool === undefined ? undefined : (tool.risk ?? "low");
}
