import {
  failureText,
  type AgentConfig,
  type AgentInput,
  type AgentState,
  type Risk,
  type ToolCallRecord,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import { isPromise, schemaCheckOf } from "@moora/agent-core-effects/internal";
import { openCallOf, openCallsOf, recordOf, toolOf } from "@moora/agent-core-state-machine/internal";
import { check } from "./invariant-broken.ts";
import type { ToolRun } from "./pending.ts";

/** The reviewer in decisions that actions make; a host that approves everything uses another name. */
export const reviewer = "reviewer";

/** What is known of a session at the instant at which a tool begins to run. */
export interface BeginView {
  /** The state that the host sees, or that its log leads to while the host opens the session. */
  readonly state: AgentState;
  /** Whether the host has opened the session, so that `state` is what it decided by. */
  readonly isOpen: boolean;
  /** By what the host decides: its configuration and tools. */
  readonly config: AgentConfig;
  readonly tools: Readonly<Record<string, ToolDefinition>>;
}

/** Whether a call was made by the handler of a custom state: the session has no record of it. */
export const isOfHandler = (toolCallId: string): boolean => toolCallId.includes("/");

/** Follows the calls of a session: which of them ran, how often, with whose permission, and what the model reads about them. */
export class CallLedger {
  readonly runs: ToolRun[] = [];
  /** Calls that had begun to run when they were settled without a result of the tool, newest last. */
  readonly abandoned: string[] = [];
  readonly #permissions = new Map<string, number>();
  /** The risk of its tool that each question was first shown with, by its call and digest. */
  readonly #shownRisks = new Map<string, Risk>();
  /** The risk that was shown with the question on which a person let a call run. */
  readonly #approvedRisks = new Map<string, Risk>();
  /** The schema that the arguments of a call were made for. */
  readonly #schemas = new Map<string, string | undefined>();

  hasRun(toolCallId: string): boolean {
    return this.runs.some((run) => run.toolCallId === toolCallId);
  }

  /** A tool begins: V4, V9 and V16. */
  begins(run: ToolRun, view: BeginView): void {
    const before = this.runs.filter((other) => other.toolCallId === run.toolCallId);
    const shared = this.runs.find((other) => other.key === run.key);
    this.runs.push(run);
    const record = recordOf(view.state, run.toolCallId);
    if (!isOfHandler(run.toolCallId)) checkRecorded(run, record, view);
    checkPolicy(run, record, view);
    this.#checkRisk(run, record, view);
    this.#checkRepeats(run, before, shared);
  }

  /** V16: an approval holds for the risk that was shown. */
  #checkRisk(
    { toolCallId: id, name }: ToolRun,
    record: ToolCallRecord | undefined,
    { tools }: BeginView,
  ): void {
    const shown = record?.decision === undefined ? undefined : this.#approvedRisks.get(id);
    if (shown === undefined) return;
    check(
      risks.indexOf(riskIn(tools, name)) <= risks.indexOf(shown),
      "V16",
      () => `call ${id} of ${name} ran with a greater risk than the one it was approved for`,
    );
  }

  /** V4: one key for each call, one run for each attempt, and `once` means once. */
  #checkRepeats(run: ToolRun, before: readonly ToolRun[], shared: ToolRun | undefined): void {
    const { toolCallId: id, key } = run;
    check(
      before.every((other) => other.key === key),
      "V4",
      () => `call ${id} ran with two idempotency keys`,
    );
    check(
      shared === undefined || (shared.toolCallId === id && shared.parameters === run.parameters),
      "V4",
      () => `two different calls share an idempotency key: ${key}`,
    );
    check(
      !before.some((other) => other.attempt === run.attempt),
      "V4",
      () => `attempt ${run.attempt} of call ${id} ran twice`,
    );
    const repeats = [...before, run].filter((later, index, all) => isOnceAfter(all[index - 1], later));
    check(
      repeats.length <= (this.#permissions.get(id) ?? 0),
      "V4",
      () => `call ${id} of ${run.name}, which runs once, ran ${before.length + 1} times`,
    );
  }

  /** An input was applied: counts permissions to run a call again, and checks what the model reads (V15). */
  follow(input: AgentInput, before: AgentState, next: AgentState): void {
    this.#countPermission(input);
    this.#followDecision(input, before);
    this.#followQuestions(next);
    this.#followSchemas(before, next);
    for (const { id, status } of openCallsOf(before.reActContext.control)) {
      if (status.type === "asking" && isReplied(id, before, next)) this.#allowAgain(id);
      const record = recordOf(next, id);
      if (record === undefined || record.result === null) continue;
      if (!this.hasRun(id)) continue;
      if (input.type !== "tool-call-completed") this.abandoned.push(id);
      checkWords(id, record);
    }
  }

  /** V9: what a person changes fits the tool as it is. */
  #followDecision(input: AgentInput, before: AgentState): void {
    if (input.type !== "tool-call-decided" || !approvals.has(input.decision.type)) return;
    const { toolCallId: id, decision } = input;
    const name = recordOf(before, id)?.name ?? "";
    const tool = toolOf(before, name);
    this.#approvedRisks.set(id, this.#shownRisks.get(`${id} ${input.digest}`) ?? riskIn(before.tools, name));
    if (decision.type !== "modified" || tool === undefined) return;
    this.#schemas.set(id, tool.schema);
    const found = schemaCheckOf(JSON.parse(tool.schema), undefined).check(JSON.parse(decision.parameters));
    check(
      isPromise(found) || found.ok,
      "V9",
      () => `the changed arguments of call ${id} do not fit: ${decision.parameters}`,
    );
  }

  #followQuestions(next: AgentState): void {
    for (const { id, status } of openCallsOf(next.reActContext.control)) {
      if (status.type !== "asking") continue;
      const question = `${id} ${status.digest}`;
      if (this.#shownRisks.has(question)) continue;
      this.#shownRisks.set(question, riskIn(next.tools, recordOf(next, id)?.name ?? ""));
    }
  }

  /** V22: a release closes no call whose arguments were made for the tool that it has. */
  #followSchemas(before: AgentState, next: AgentState): void {
    for (const { id } of openCallsOf(next.reActContext.control))
      if (!this.#schemas.has(id)) this.#schemas.set(id, toolOf(next, recordOf(next, id)?.name ?? "")?.schema);
    for (const { id } of openCallsOf(before.reActContext.control)) {
      const { result, name } = recordOf(next, id) ?? {};
      if (result == null || result.isSuccess || result.code !== "tool-changed") continue;
      const tool = toolOf(next, name ?? "");
      check(
        tool === undefined || tool.schema !== this.#schemas.get(id),
        "V22",
        () => `call ${id} was closed as made for another tool, although its arguments were made for this one`,
      );
    }
  }

  #countPermission(input: AgentInput): void {
    const allows =
      (input.type === "tool-call-interrupted" && input.outcome === "not-run") ||
      (input.type === "tool-call-decided" && input.by === reviewer && input.decision.type === "run-again");
    if (allows) this.#allowAgain(input.toolCallId);
  }

  #allowAgain(toolCallId: string): void {
    this.#permissions.set(toolCallId, (this.#permissions.get(toolCallId) ?? 0) + 1);
  }
}

/**
 * Whether a run needs a permission because of the run before it: the tool runs once for the release that ran it before, or for the
 * one that runs it now. The log does not contain the calls of handlers: for those, only the release that runs them counts.
 */
const isOnceAfter = (before: ToolRun | undefined, run: ToolRun): boolean =>
  before !== undefined &&
  (run.replay === "once" || (before.replay === "once" && !isOfHandler(run.toolCallId)));

/** Whether the question of a tool was replied to, so that its call runs again. */
const isReplied = (id: string, before: AgentState, next: AgentState): boolean =>
  recordOf(before, id)?.asked?.reply === null && recordOf(next, id)?.asked?.reply != null;

/** Codes of results that mean that a call did not run, unless their text leaves it open. */
const denyingCodes: ReadonlySet<string> = new Set([
  "tool-changed",
  "expired",
  "blacklisted",
  "unknown-tool",
  "invalid-arguments",
]);

const denyingWords = /\bnot run\b|\bbefore it ran\b|\bnever ran\b|\bdid not run\b/i;
const openWords = /\bunknown\b|\bmay have\b|\bmight have\b/i;

/** V15: of a call that had begun to run, the model never reads that it did not. */
function checkWords(id: string, { result }: ToolCallRecord): void {
  if (result === null || result.isSuccess) return;
  const { code = "" } = result;
  const text = failureText(result);
  const denies = denyingWords.test(text) || (denyingCodes.has(code) && !openWords.test(text));
  check(!denies, "V15", () => `call ${id} had begun to run, and the model reads "${text}"`);
}

/** V9: what runs is what was recorded, while its call is open at this attempt. */
function checkRecorded(
  { toolCallId: id, parameters, attempt }: ToolRun,
  record: ToolCallRecord | undefined,
  { state, isOpen }: BeginView,
): void {
  check(
    record?.parameters === parameters,
    "V9",
    () => `call ${id} ran with arguments that differ from the recorded ones`,
  );
  if (!isOpen) return;
  const call = openCallOf(state.reActContext.control, id);
  check(
    call?.status.type === "running" && call.status.started && call.attempt === attempt,
    "V9",
    () => `attempt ${attempt} of call ${id} ran although it is not the call's open, started attempt`,
  );
}

/** V16: what runs obeys the policy of the agent that runs it. */
function checkPolicy(run: ToolRun, record: ToolCallRecord | undefined, { config, tools }: BeginView): void {
  const { name, toolCallId: id } = run;
  check(
    !isListed(config.toolCalls.blacklist, name, tools),
    "V16",
    () => `call ${id} ran the blacklisted tool ${name}`,
  );
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined || record === undefined) return;
  check(
    (record.decision !== undefined && approvals.has(record.decision.type)) ||
      !needsApproval(config, run, { tools, tool, record }),
    "V16",
    () => `call ${id} of ${name} ran without the approval that its agent requires`,
  );
}

/** Decisions with which a person lets a call run. */
const approvals: ReadonlySet<string> = new Set(["approved", "modified", "run-again"]);

const risks: readonly Risk[] = ["low", "medium", "high", "critical"];

const riskIn = (tools: Readonly<Record<string, ToolDefinition>>, name: string): Risk =>
  toolOf({ tools }, name)?.risk ?? "low";

/** Whether a list has a tool by its name or a former one. */
const isListed = (
  names: readonly string[],
  name: string,
  tools: Readonly<Record<string, ToolDefinition>>,
): boolean => [name, ...(tools[name]?.formerNames ?? [])].some((each) => names.includes(each));

interface Judged {
  readonly tools: Readonly<Record<string, ToolDefinition>>;
  readonly tool: ToolDefinition;
  readonly record: ToolCallRecord;
}

/** The approval policy, implemented independently of the reducer. */
function needsApproval(
  { approval: { policy } }: AgentConfig,
  { name }: Pick<ToolRun, "name">,
  { tools, tool, record }: Judged,
): boolean {
  if (tool.asksHuman === true) return false;
  if (tool.approval !== undefined) return tool.approval === "always";
  if (typeof policy === "string") return policy === "always";
  if ("above" in policy) return risks.indexOf(tool.risk ?? "low") >= risks.indexOf(policy.above);
  if ("tools" in policy) return isListed(policy.tools, name, tools);
  return record.needsApproval !== false;
}
