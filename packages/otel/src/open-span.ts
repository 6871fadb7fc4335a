import { SpanKind, type Attributes, type SpanContext } from "@opentelemetry/api";
import type { AgentState } from "@moora/agent-core-state-machine";
import { modelFor, recordOf, reflectTaskType, toolOf } from "@moora/agent-core-state-machine/internal";
import type { Content } from "./content.ts";
import { attribute, operation, type Operation } from "./names.ts";
import type { Work } from "./work.ts";

/** A span of work that has not ended. */
export interface OpenSpan {
  readonly work: Work;
  readonly operation: Operation;
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly startedAt: number;
  readonly attributes: Attributes;
}

type Start = Pick<OpenSpan, "operation" | "name" | "kind" | "attributes">;

/** The name and the attributes that a span has from its start. `state` is the first state in which the work is under way. */
export function startOf(work: Work, state: AgentState, content: Content): Start {
  switch (work.type) {
    case "model-call":
      return modelCallStart(work, state, content);
    case "tool-call":
      return toolCallStart(work, state, content);
    case "question":
      return questionStart(work, state);
    case "handler":
      return {
        operation: operation.handleState,
        name: `${operation.handleState} ${work.state}`,
        kind: SpanKind.INTERNAL,
        attributes: {
          [attribute.operation]: operation.handleState,
          [attribute.state]: work.state,
          [attribute.attempt]: work.attempt,
        },
      };
  }
}

/** The model that a request names; "" for the model of the caller, which no log contains. */
export const modelOf = ({ config }: AgentState, purpose: "plan" | "reflect"): string =>
  modelFor(config, purpose === "reflect" ? reflectTaskType : config.taskType);

function modelCallStart(
  { purpose, attempt }: Extract<Work, { type: "model-call" }>,
  state: AgentState,
  content: Content,
): Start {
  const { settings, answerSchema } = state.config;
  const model = modelOf(state, purpose);
  return {
    operation: operation.chat,
    name: chatName(model),
    kind: SpanKind.CLIENT,
    attributes: {
      [attribute.operation]: operation.chat,
      ...(model === "" ? {} : { [attribute.requestModel]: model }),
      ...given(attribute.maxTokens, settings.maxOutputTokens),
      ...given(attribute.temperature, settings.temperature),
      ...given(attribute.topP, settings.topP),
      ...given(attribute.seed, settings.seed),
      ...given(attribute.reasoningLevel, settings.reasoningEffort),
      ...(settings.stop === undefined ? {} : { [attribute.stopSequences]: [...settings.stop] }),
      ...(purpose === "plan" && answerSchema !== null ? { [attribute.outputType]: "json" } : {}),
      [attribute.purpose]: purpose,
      [attribute.step]: state.reActContext.step,
      [attribute.attempt]: attempt,
      ...content.ofRequest(state),
    },
  };
}

/** The name of the span of a model call. */
export const chatName = (model: string): string =>
  model === "" ? operation.chat : `${operation.chat} ${model}`;

const given = (name: string, value: string | number | undefined): Attributes =>
  value === undefined ? {} : { [name]: value };

function toolCallStart(
  { toolCallId, attempt }: Extract<Work, { type: "tool-call" }>,
  state: AgentState,
  content: Content,
): Start {
  const record = recordOf(state, toolCallId);
  const name = record?.name ?? "";
  return {
    operation: operation.executeTool,
    name: `${operation.executeTool} ${name}`,
    kind: SpanKind.INTERNAL,
    attributes: {
      ...toolAttributes(state, toolCallId, name),
      [attribute.attempt]: attempt,
      ...(record === undefined ? {} : content.ofArguments(record)),
    },
  };
}

/** The attributes of a span of a tool call, whether the tool has run or not. */
export function toolAttributes(state: AgentState, toolCallId: string, name: string): Attributes {
  const description = toolOf(state, name)?.description;
  return {
    [attribute.operation]: operation.executeTool,
    [attribute.toolName]: name,
    [attribute.toolType]: "function",
    ...given(attribute.toolDescription, description),
    [attribute.toolCallId]: toolCallId,
    [attribute.step]: state.reActContext.step,
  };
}

function questionStart({ toolCallId, about }: Extract<Work, { type: "question" }>, state: AgentState): Start {
  const name = recordOf(state, toolCallId)?.name ?? "";
  return {
    operation: operation.waitForHuman,
    name: `${operation.waitForHuman} ${name}`,
    kind: SpanKind.INTERNAL,
    attributes: {
      [attribute.operation]: operation.waitForHuman,
      [attribute.toolName]: name,
      [attribute.toolCallId]: toolCallId,
      [attribute.question]: about,
    },
  };
}
