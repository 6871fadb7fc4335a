import {
  defaultRunLimits,
  type AnyData,
  type ApprovalPredicate,
  type RunLimits,
  type StateHandler,
} from "@moora/agent-core-effects";
import { didYouMean, fieldPath, fieldProblem, refuse, shownValue } from "@moora/agent-core-effects/internal";
import {
  agentConfigSchema,
  graphProblems,
  type AgentConfig,
  type AgentConfigChange,
  type Json,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import {
  approvalSchema,
  changeConfig,
  configGroups,
  jsonCopy,
  withoutUndefined,
} from "@moora/agent-core-state-machine/internal";
import type { LlmCaller } from "@moora/llm";
import { configuredCheck, schemaText } from "./answer-reader.ts";
import { checkOptions, isObject, type OptionForms } from "./check-options.ts";
import { configFieldHint, unknownFieldOf } from "./config-fields.ts";
import type { Agent } from "./define-agent.ts";
import { checkName } from "./check-name.ts";
import { checkPrices } from "./price-list.ts";
import { checkProviderOptions, checkProviders } from "./provider-settings.ts";

/**
 * Returns a checked copy of the configuration. Throws `BuildError`, with the path, for an unknown field at any depth, a
 * value of the wrong form, a value that is not JSON, and a control graph that cannot work.
 */
export function validateConfig(config: AgentConfig): AgentConfig {
  const copy = configCopy(config);
  const parsed = agentConfigSchema.safeParse(copy);
  const unknown = unknownFieldOf(copy, parsed.success ? parsed.data : undefined);
  if (unknown !== undefined)
    return refuse(`${fieldPath("config", unknown)}: unknown field.${configFieldHint(unknown)}`);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    if (issue === undefined) return refuse("config is invalid.");
    return refuse(`${fieldProblem("config", copy, issue)}${approvalHint(config.approval)}`);
  }
  checkProviderOptions(parsed.data);
  const [problem] = graphProblems(parsed.data.graph);
  return problem === undefined ? parsed.data : refuse(`config.graph: ${problem}`);
}

/** The hint for a policy that is not in its group. */
const approvalHint = (approval: unknown): string =>
  typeof approval === "string" && approvalSchema.shape.policy.safeParse(approval).success
    ? ` Write approval: { policy: "${approval}" }.`
    : "";

const predicateHint =
  ' Pass a function in predicates, and name it: predicates: { name: fn }, config: { approval: { policy: { predicate: "name" } } }.';

/** A copy of a configuration or of a change. Throws `BuildError` for a value that is not JSON. */
function configCopy(config: AgentConfig | AgentConfigChange): Json {
  const copied = jsonCopy(config);
  if ("copy" in copied) return copied.copy;
  const { path, message } = copied.problem;
  const hint = path.startsWith("approval") ? predicateHint : "";
  return refuse(`config${path === "" ? "" : `.${path}`}: ${message}${hint}`);
}

/** A copy of a change without its undefined fields. Throws `BuildError` for a value that is not JSON. */
export function changeCopy(change: AgentConfigChange): AgentConfigChange {
  const given = withoutUndefined(change);
  configCopy(given);
  return structuredClone(given);
}

/**
 * The configuration with a change applied. Throws `BuildError` for a group that is not an object, whose value would
 * otherwise be lost.
 */
export function mergeConfig(config: AgentConfig, change: AgentConfigChange): AgentConfig {
  for (const group of configGroups) {
    if (change[group] !== undefined && !isObject(change[group]))
      refuse(`config.${group} must be an object, got ${shownValue(change[group])}.`);
  }
  return changeConfig(config, change);
}

/**
 * Returns the change with its `answerSchema` in the form that providers accept. Throws `BuildError` for a change after
 * which the configuration could not work with the code of the agent.
 */
export function checkedConfigChange(
  { parts: { llm, states, predicates, data }, tools }: Pick<Agent<unknown>, "parts" | "tools">,
  config: AgentConfig,
  change: AgentConfigChange,
): AgentConfigChange {
  const { answerSchema = null } = change;
  const schema = answerSchema === null ? {} : { answerSchema: schemaText(configuredCheck(answerSchema)) };
  const changed = validateConfig(mergeConfig(config, change));
  checkNames(changed, { llm, states, predicates, tools });
  checkModels(changed);
  checkEffective(changed, data);
  if (change.prices !== undefined) checkPrices(change.prices);
  return { ...change, ...schema };
}

/** Throws `BuildError` for a field that has no effect because what it applies to is missing. */
export function checkEffective({ budget, showData }: AgentConfig, data: AnyData | undefined): void {
  const isLimited = Object.keys(budget).some((field) => field !== "warnAt");
  if (budget.warnAt !== undefined && !isLimited) {
    refuse(
      "config.budget.warnAt is a part of a limit, and config.budget has no limit. Add one, such as maxTokens.",
    );
  }
  if (showData !== "never" && data === undefined) {
    refuse(
      `config.showData is "${showData}", and the agent has no data. Give defineAgent({ data }), or remove showData.`,
    );
  }
}

/** The model, handlers, predicates and tools that a configuration can name. */
export interface NamedCode {
  readonly llm: Pick<LlmCaller, "name">;
  readonly states: Readonly<Record<string, StateHandler>>;
  readonly predicates: Readonly<Record<string, ApprovalPredicate>>;
  readonly tools: Readonly<Record<string, ToolDefinition>>;
}

/** Throws `BuildError` for a name in the configuration that matches nothing. */
export function checkNames(config: AgentConfig, code: NamedCode): void {
  checkStates(config, code);
  checkProviders(config, code.llm);
  checkPolicy(config, code);
  const { toolChoice, toolSearch } = config;
  const { blacklist } = config.toolCalls;
  const tools = Object.keys(code.tools);
  const { always = [] } = typeof toolSearch === "object" ? toolSearch : {};
  always.forEach((name, index) =>
    checkName(name, tools, `config.toolSearch.always[${index}]`, "a tool of this agent"),
  );
  blacklist.forEach((name, index) =>
    checkName(name, tools, `config.toolCalls.blacklist[${index}]`, "a tool of this agent"),
  );
  if (typeof toolChoice === "string") return;
  checkName(toolChoice.name, tools, "config.toolChoice.name", "a tool of this agent");
  if (blacklist.includes(toolChoice.name)) {
    refuse(
      `config.toolChoice.name is "${toolChoice.name}", which config.toolCalls.blacklist forbids. Remove one of them.`,
    );
  }
}

/**
 * Throws `BuildError` for a table of models of which none can be selected. A single unused model is allowed: a later
 * configuration may select it.
 */
export function checkModels({ models, taskType }: AgentConfig): void {
  const names = Object.keys(models).filter((name) => name !== "reflect");
  if (names.length === 0 || names.includes(taskType) || names.includes("default")) return;
  refuse(
    `config.models has no model for the task type "${taskType}" and no "default".${didYouMean(taskType, names) || ` It has ${names.map((name) => `"${name}"`).join(", ")}.`}`,
  );
}

function checkStates({ graph }: AgentConfig, { states }: NamedCode): void {
  for (const name of graph.states) {
    if (!graph.terminals.includes(name) && !Object.hasOwn(states, name))
      refuse(`The state ${name} has no handler. Add states: { ${name}: (state) => event }.`);
  }
  for (const name of Object.keys(states))
    checkName(name, graph.states, `states.${name}`, "a state of config.graph");
}

function checkPolicy({ approval: { policy } }: AgentConfig, { predicates, tools }: NamedCode): void {
  for (const [name, predicate] of Object.entries(predicates)) checkFunction(predicate, `predicates.${name}`);
  if (typeof policy === "string") return;
  if ("predicate" in policy) {
    checkName(
      policy.predicate,
      Object.keys(predicates),
      "config.approval.policy.predicate",
      "a name in predicates",
    );
  }
  if (!("tools" in policy)) return;
  policy.tools.forEach((name, index) =>
    checkName(name, Object.keys(tools), `config.approval.policy.tools[${index}]`, "a tool of this agent"),
  );
}

function checkFunction(value: unknown, place: string): void {
  if (typeof value !== "function") refuse(`${place} must be a function, got ${shownValue(value)}.`);
}

const limitForms: OptionForms<RunLimits> = {
  toolTimeoutMs: "positiveInteger",
  maxResultLength: "positiveInteger",
  llmFirstChunkTimeoutMs: "positiveInteger",
  llmIdleTimeoutMs: "positiveInteger",
};

/** The longest result that fits a record of a log, in characters. */
const longestResult = 8_000_000;

/**
 * The run limits with defaults for those that are not given. Throws `BuildError` for an unknown limit and for a value
 * that is not a positive integer.
 */
export function validateRunLimits(given: Partial<RunLimits> = {}): RunLimits {
  const limits = { ...defaultRunLimits, ...withoutUndefined(given) };
  checkOptions("runLimits", limits, limitForms, { placeOf: (path) => `runLimits.${path}` });
  if (limits.maxResultLength > longestResult) {
    refuse(
      `runLimits.maxResultLength must be at most ${longestResult}, so that a result fits a log, got ${limits.maxResultLength}.`,
    );
  }
  return limits;
}
