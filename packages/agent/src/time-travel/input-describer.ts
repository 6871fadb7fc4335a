import { oneLine, resultSummary } from "@moora/agent-core-effects/internal";
import {
  inputsIn,
  type AgentInput,
  type InputOf,
  type InputType,
  type TraceNote,
} from "@moora/agent-core-state-machine";
import { changeConfig, configGroups } from "@moora/agent-core-state-machine/internal";
import { textToJson } from "@moora/llm/internal";
import { askedText } from "../asked-text.ts";
import { isSameJson } from "../durable/canonical-json.ts";
import type { SessionHeader } from "../durable/session-header.ts";
import { fileText } from "./file-text.ts";

type Configured = Pick<SessionHeader, "config" | "tools">;

/** Calls, settings and tools of earlier records. */
class CallNames {
  readonly #names = new Map<string, string>();
  #configured: Configured;
  /** What the last record has changed of the settings and tools. */
  changes: readonly string[] = [];

  constructor(configured: Configured) {
    this.#configured = configured;
  }

  learn(input: AgentInput): void {
    if (input.type === "agent-configured") this.#configure(input);
    if (input.type === "tool-call-completed" && input.handoff !== undefined) this.#configure(input.handoff);
    if (input.type === "re-act-observed" && input.observation.type === "continue-re-act")
      for (const [id, { name }] of Object.entries(input.observation.toolCalls)) this.#names.set(id, name);
  }

  #configure({ config = {}, tools }: Pick<InputOf<"agent-configured">, "config" | "tools">): void {
    const before = this.#configured;
    this.#configured = { config: changeConfig(before.config, config), tools: tools ?? before.tools };
    this.changes = configurationChanges(before, this.#configured);
  }

  callOf(id: string): string {
    return `${id} ${this.#names.get(id) ?? ""}`.trim();
  }

  /** Whether the calls of a tool are questions to a person. */
  asksPerson(name: string): boolean {
    const { tools } = this.#configured;
    return Object.hasOwn(tools, name) && tools[name]?.asksHuman === true;
  }
}

const groups: readonly string[] = configGroups;

/** The settings and tools that differ, such as `limits.maxSteps changed` and `tool refund added`. */
const configurationChanges = (before: Configured, after: Configured): readonly string[] => [
  ...changedFields(before.config, after.config).flatMap(([name, was, is]) =>
    groups.includes(name)
      ? changedFields({ ...Object(was) }, { ...Object(is) }).map(([field]) => `${name}.${field} changed`)
      : [`${name} changed`],
  ),
  ...changedFields(before.tools, after.tools).map(
    ([name, was, is]) =>
      `tool ${name} ${was === undefined ? "added" : is === undefined ? "removed" : "changed"}`,
  ),
];

function changedFields(before: object, after: object): readonly (readonly [string, unknown, unknown])[] {
  const later = new Map<string, unknown>(Object.entries(after));
  const earlier = new Map<string, unknown>(Object.entries(before));
  return [...new Map([...earlier, ...later]).keys()]
    .map((name) => [name, earlier.get(name), later.get(name)] as const)
    .filter(([, was, is]) => !isSameJson(was, is));
}

type InputText<Type extends InputType> = (input: InputOf<Type>, calls: CallNames) => string;

/** The text of each kind of record: one row each. */
const inputTexts: { readonly [Type in InputType]: InputText<Type> } = {
  "user-message-received": ({ content }) => `user: ${oneLine(content)}`,
  "llm-call-started": ({ key }) => `model call started, ${key}`,
  "llm-call-interrupted": ({ key }) => `model call interrupted, ${key}`,
  "llm-message-started": () => "model started to write",
  "llm-message-completed": ({ content }) => `model: ${oneLine(content)}`,
  "llm-chunk-received": ({ text }) => `model: ${oneLine(text)}`,
  "re-act-observed": observationText,
  "llm-call-failed": ({ failure }) => `model call failed, ${failure.kind}: ${oneLine(failure.message)}`,
  "history-reflected": ({ summary }) => `summarized: ${oneLine(summary)}`,
  "tool-call-started": ({ toolCallId, attempt }, calls) =>
    `${calls.callOf(toolCallId)} started${attempt > 1 ? `, attempt ${attempt}` : ""}`,
  "tool-call-completed": ({ toolCallId, result }, calls) =>
    `${calls.callOf(toolCallId)} ${result.isSuccess ? `returned ${resultSummary(result.content)}` : `failed: ${oneLine(result.error)}`}`,
  "tool-call-asked": ({ toolCallId, question }, calls) =>
    `${calls.callOf(toolCallId)} asks: ${oneLine(question)}`,
  "tool-call-interrupted": ({ toolCallId, outcome }, calls) =>
    `${calls.callOf(toolCallId)} interrupted, ${outcome === "unknown" ? "outcome unknown" : "not run"}`,
  "tool-call-decided": decisionText,
  "deadline-passed": ({ key, missed, problem }) =>
    `deadline passed, ${key}${missed === true ? ", missed" : ""}${problem === undefined ? "" : `, the schedule ends: ${oneLine(problem)}`}`,
  "schedule-changed": ({ scheduleId, schedule, by }) =>
    `schedule ${scheduleId} ${schedule === null ? "removed" : "set"} by ${by ?? "the agent"}${schedule === null ? "" : `: ${oneLine(schedule.message)}`}`,
  "re-act-cancelled": ({ reason }) => `canceled${withReason(reason)}`,
  "session-paused": ({ reason }) => `paused${withReason(reason)}`,
  "session-resumed": () => "resumed",
  "loop-retried": () => "tried again",
  "session-opened": ({ owner, agentVersion = "0" }) =>
    `opened by ${owner}${agentVersion === "0" ? "" : `, version ${agentVersion}`}`,
  "agent-configured": (_, { changes }) => `configured: ${oneLine(changes.join(", ") || "no change")}`,
  "state-handled": ({ event, trace, replaced = [] }) =>
    `state handled, ${event}${replaced.length > 0 ? `, ${replaced.length} texts replaced` : ""}${withTrace(trace)}`,
  "context-window-expanded": () => "context window expanded",
  "history-tool-calls-added": ({ toolCallIds }) => `earlier calls added: ${toolCallIds.join(", ")}`,
  "tools-found": ({ names }) => `tools found: ${names.join(", ")}`,
  "context-note-added": ({ text }) => `note: ${oneLine(text)}`,
  "data-changed": ({ by, patches }) => `data changed by ${by}: ${oneLine(JSON.stringify(patches))}`,
  "state-handler-started": ({ key }) => `handler ${key} started`,
  "state-handler-interrupted": ({ key }) => `handler ${key} interrupted`,
  "usage-reported": ({ key }) => `usage of ${key}`,
  "snapshot-taken": ({ seq }) => `snapshot of record ${seq}`,
};

function observationText({ observation, turn }: InputOf<"re-act-observed">, calls: CallNames): string {
  if (observation.type === "continue-re-act") {
    const texts = Object.entries(observation.toolCalls).map(([id, { name, parameters }]) =>
      calls.asksPerson(name)
        ? `${id} ${name} ${JSON.stringify(oneLine(askedText({ parameters: textToJson(parameters) ?? parameters }).text))}`
        : `${id} ${name} ${oneLine(parameters)}`,
    );
    return texts.length === 0 ? "model continues" : `model calls ${texts.join("; ")}`;
  }
  const texts = (turn?.parts ?? []).flatMap((part) => {
    if (part.type === "text") return [part.text];
    return part.type === "file" ? [fileText(part.file)] : [];
  });
  return texts.length === 0 ? "model answered" : `model: ${oneLine(texts.join(" "))}`;
}

function decisionText(
  { toolCallId, by, decision, reason }: InputOf<"tool-call-decided">,
  calls: CallNames,
): string {
  const about = `${calls.callOf(toolCallId)} ${decisionTexts[decision.type]} by ${by}`;
  switch (decision.type) {
    case "modified":
      return `${about}: ${oneLine(decision.parameters)}`;
    case "answered":
    case "worked":
      return `${about}: ${oneLine(decision.content)}`;
    case "approved":
    case "rejected":
    case "run-again":
    case "failed":
    case "unknown":
      return `${about}${withReason(reason)}`;
  }
}

const decisionTexts: Readonly<Record<InputOf<"tool-call-decided">["decision"]["type"], string>> = {
  approved: "approved",
  rejected: "rejected",
  modified: "approved with other arguments",
  answered: "answered",
  "run-again": "decided to run again",
  worked: "reported as worked",
  failed: "reported as failed",
  unknown: "reported as unknown",
};

const withReason = (reason: string | undefined): string =>
  reason === undefined || reason === "" ? "" : `: ${oneLine(reason)}`;

const withTrace = (trace: TraceNote | undefined): string => {
  if (trace === undefined) return "";
  return `: ${oneLine(trace.data === undefined ? trace.text : `${trace.text} ${JSON.stringify(trace.data)}`)}`;
};

const textOf = <Type extends InputType>(input: InputOf<Type> & { readonly type: Type }, calls: CallNames) => {
  const toText: InputText<Type> = inputTexts[input.type];
  return toText(input, calls);
};

/**
 * Describes the inputs of a session in one line of text each, for people. Call it with every input, from the first one on: it
 * names calls by the tools of earlier inputs.
 */
export function inputDescriber(
  header: Pick<SessionHeader, "config" | "tools">,
): (input: AgentInput) => string {
  const calls = new CallNames(header);
  return (input) => {
    calls.learn(input);
    return inputsIn(input)
      .map((part) => textOf(part, calls))
      .join("; ");
  };
}
