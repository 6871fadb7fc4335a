import type { Attributes } from "@opentelemetry/api";
import {
  failureText,
  inputTraits,
  type AgentInput,
  type AgentState,
  type ReActObservedInput,
  type StateHandledInput,
  type ToolCallResultInput,
  type UsageReport,
} from "@moora/agent-core-state-machine";
import { recordOf } from "@moora/agent-core-state-machine/internal";
import type { Content } from "./content.ts";
import { attribute, endedEarly, finishReason, providerName } from "./names.ts";
import type { Work } from "./work.ts";

/** How work has ended: the attributes that it adds, and its failure. */
export interface WorkEnd {
  readonly attributes: Attributes;
  /** The value of `error.type`; undefined for success. */
  readonly errorType?: string | undefined;
  /** The message of the failure. Default: none. */
  readonly message?: string | undefined;
  /** The attributes of the trace note that a handler has left. Default: it has left none. */
  readonly note?: Attributes | undefined;
}

/** How work has ended that the input `input` took out of the state. `key` is that of the work, `state` the state after it. */
export function endOf(work: Work, key: string, input: AgentInput, after: AfterInput): WorkEnd {
  switch (work.type) {
    case "model-call":
      return modelCallEnd(key, input, after);
    case "tool-call":
      return toolCallEnd(work.toolCallId, input, after);
    case "question":
      return questionEnd(work, input, after);
    case "handler":
      return input.type === "state-handled" && input.key === key
        ? handlerEnd(input, after.content)
        : endedBy(input);
  }
}

/** The state after an input, and what of its content is captured. */
export interface AfterInput {
  readonly state: AgentState;
  readonly content: Content;
}

/** The end of work that had no answer, by the input that ended it. */
function endedBy(input: AgentInput): WorkEnd {
  if (input.type === "session-opened" || inputTraits[input.type].role === "interruption")
    return { attributes: {}, errorType: endedEarly.interrupted };
  // A message of a user or of a schedule may restart the loop.
  const isCancel = ["re-act-cancelled", "user-message-received", "deadline-passed"].includes(input.type);
  return { attributes: {}, errorType: isCancel ? endedEarly.cancelled : endedEarly.replaced };
}

const handlerEnd = ({ event, trace }: StateHandledInput, content: Content): WorkEnd => ({
  attributes: { [attribute.event]: event },
  ...(trace === undefined ? {} : { note: content.ofTrace(trace) }),
});

function modelCallEnd(key: string, input: AgentInput, { content }: AfterInput): WorkEnd {
  if (input.type === "re-act-observed" && (input.key ?? key) === key) return answerEnd(input, content);
  if (input.type === "history-reflected" && input.key === key)
    return { attributes: { ...usageAttributes(input.usage), ...content.ofSummary(input.summary) } };
  if (input.type !== "llm-call-failed" || input.key !== key) return endedBy(input);
  const { kind, message } = input.failure;
  return { attributes: usageAttributes(input.usage), errorType: kind, message };
}

/** The end of a model call with an answer. */
export const answerEnd = (input: ReActObservedInput, content: Content): WorkEnd => ({
  attributes: {
    ...originAttributes(input.turn?.origin),
    ...usageAttributes(input.usage),
    ...(input.finish === undefined ? {} : { [attribute.finishReasons]: [finishReason(input.finish)] }),
    ...content.ofAnswer(input),
  },
});

/** The provider, the server and the model that the origin of a turn names. */
export function originAttributes(origin: string | undefined): Attributes {
  const [provider, , host, ...model] = origin?.split("/") ?? [];
  if (provider === undefined || provider === "") return {};
  const { hostname, port } = URL.parse(`http://${host ?? ""}`) ?? { hostname: "", port: "" };
  return {
    [attribute.provider]: providerName(provider),
    ...(model.length === 0 ? {} : { [attribute.requestModel]: model.join("/") }),
    ...(hostname === "" ? {} : { [attribute.serverAddress]: hostname }),
    ...(port === "" ? {} : { [attribute.serverPort]: Number(port) }),
  };
}

/** The attributes of a usage: only the amounts that were reported. */
export function usageAttributes(usage: UsageReport | undefined): Attributes {
  const amounts = {
    [attribute.inputTokens]: usage?.inputTokens,
    [attribute.outputTokens]: usage?.outputTokens,
    [attribute.cacheReadTokens]: usage?.cachedInputTokens,
    [attribute.cacheCreationTokens]: usage?.cacheWriteTokens,
    [attribute.reasoningTokens]: usage?.reasoningTokens,
    [attribute.cost]: usage?.cost,
  };
  return Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== undefined));
}

/** The attributes of the usage of a loop, with names of their own: viewers add those of the conventions up over the spans of a trace. */
export function totalAttributes(usage: UsageReport): Attributes {
  const own = Object.entries(usageAttributes(usage));
  return Object.fromEntries(own.map(([name, amount]) => [name.replace(/^gen_ai/, "moora"), amount]));
}

function toolCallEnd(toolCallId: string, input: AgentInput, { state, content }: AfterInput): WorkEnd {
  const record = recordOf(state, toolCallId);
  const isInterrupted = input.type === "session-opened" || input.type === "tool-call-interrupted";
  // The attempt has ended with a question, or failed and is repeated: the call has no result yet.
  if (input.type === "tool-call-asked" && input.toolCallId === toolCallId) return { attributes: {} };
  if (input.type === "tool-call-completed" && input.toolCallId === toolCallId && record?.result === null)
    return failedAttempt(input, content);
  if (record === undefined || record.result === null || isInterrupted) return endedBy(input);
  const attributes = content.ofResult(record);
  if (record.result.isSuccess) return { attributes };
  const message = content.isCaptured ? failureText(record.result) : undefined;
  return { attributes, errorType: record.result.code ?? "_OTHER", message };
}

/** The end of an attempt of a tool call that failed and is repeated. */
function failedAttempt({ result }: ToolCallResultInput, { isCaptured }: Content): WorkEnd {
  if (result.isSuccess) return { attributes: {} };
  return {
    attributes: {},
    errorType: result.code ?? "_OTHER",
    message: isCaptured ? result.error : undefined,
  };
}

function questionEnd(
  { toolCallId, about }: Extract<Work, { type: "question" }>,
  input: AgentInput,
  { state, content }: AfterInput,
): WorkEnd {
  const record = recordOf(state, toolCallId);
  const isDecided =
    (input.type === "tool-call-decided" && input.toolCallId === toolCallId) ||
    input.type === "deadline-passed";
  const reply = about === "answer" ? record?.asked?.reply : undefined;
  if (isDecided && reply != null) {
    const reason = reply.type === "refused" ? reply.reason : undefined;
    return { attributes: { [attribute.decision]: reply.type, ...content.ofDecision(reply.by, reason) } };
  }
  if (isDecided && record?.decision !== undefined) {
    const { type, by, reason } = record.decision;
    return { attributes: { [attribute.decision]: type, ...content.ofDecision(by, reason) } };
  }
  // The application has settled the call, or the call may no longer run.
  if (record?.result?.isSuccess === true) return { attributes: {} };
  return record?.result?.code === undefined
    ? endedBy(input)
    : { attributes: {}, errorType: record.result.code };
}
