import {
  cacheBreakBetween,
  contextAt,
  llmRequestAt,
  type AgentState,
  type ContextPlan,
  type LlmContent,
  type LlmMessage,
  type LlmRequest,
} from "@moora/agent";
import { cacheBreakText, leftOutTexts } from "@moora/agent-core-effects/internal";
import { controlName } from "@moora/agent-core-state-machine";
import { ladderAt, rungText } from "@moora/agent-core-state-machine/internal";
import type { SessionHistory } from "./session-history.ts";

/** A block of a message: its kind, such as `text` or `result`, and its text. */
export interface RequestBlock {
  readonly kind: "text" | "file" | "reasoning" | "tool-call" | "result" | "error" | "opaque";
  readonly title: string;
  readonly text: string;
}

/** A message of a request. `isNew`: the request before did not begin with the same messages up to this one. */
export interface RequestMessage {
  readonly role: LlmMessage["role"];
  readonly blocks: readonly RequestBlock[];
  readonly isNew: boolean;
}

/** A request to the model, beside the one before it: of another step, and for the same purpose. */
export interface RequestView {
  /** The record after which the model got it; undefined for a request that it would get at this position. */
  readonly sentAt: number | undefined;
  /** The record of the request before; undefined for the first one. */
  readonly previousAt: number | undefined;
  readonly purpose: LlmRequest["purpose"];
  readonly model: string;
  readonly system: string;
  /** The settings, the tool choice and the schema of the answer, as JSON. */
  readonly settings: string;
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: string }[];
  readonly messages: readonly RequestMessage[];
  /** The number of messages before them that are left out. */
  readonly omitted: number;
  /** How many messages the request before begins with as well. */
  readonly stable: number;
  /** Whether the request before begins with the same system prompt and tools. */
  readonly hasSameHead: boolean;
  /** Whether it extends the request before, and where not, for people; undefined for the first one. */
  readonly cache: string | undefined;
  /** Its tokens, and what it leaves out, for people; undefined for a request for a summary. */
  readonly context: { readonly plan: ContextPlan; readonly leftOut: readonly string[] } | undefined;
}

/** The most messages that are shown. */
const mostMessages = 120;

/** The longest text of a block that is shown. */
const maxBlock = 20_000;

/**
 * The request at a position: the one that the model would get now, or got with this record; otherwise the last one that it got
 * before. Undefined where there was none.
 */
export function requestViewAt(history: SessionHistory, seq: number): RequestView | undefined {
  const found = requestAt(history, seq);
  if (found === undefined) return undefined;
  const { request, sentAt, state } = found;
  const { control, loop, step } = state.reActContext;
  const previousAt = history.modelCalls.findLast((call) => {
    const row = history.rows[call - 1];
    const isOfStep = row?.loop === loop && row.step === step;
    return call < (sentAt ?? seq + 1) && row?.state === controlName(control) && !isOfStep;
  });
  const previous = previousAt === undefined ? undefined : llmRequestAt(history.stateAt(previousAt));
  const broken = previous && cacheBreakBetween(previous, request);
  const { messages } = request;
  const isWhole = broken === null || broken?.part === "settings";
  const common = isWhole ? Math.min(previous?.messages.length ?? 0, messages.length) : 0;
  const stable = broken?.part === "messages" ? broken.index : common;
  const omitted = Math.max(0, messages.length - mostMessages);
  const plan = contextAt(state);
  return {
    sentAt,
    previousAt,
    purpose: request.purpose,
    model: request.model,
    system: request.system,
    settings: settingsText(request),
    tools: request.tools.map(({ name, description, schema }) => ({
      name,
      description,
      schema: JSON.stringify(schema, null, 2),
    })),
    messages: messages.slice(omitted).map((message, index) => ({
      role: message.role,
      blocks: blocksOf(message),
      isNew: index + omitted >= stable,
    })),
    omitted,
    stable,
    hasSameHead: broken === null || broken?.part === "messages",
    cache: broken === undefined ? undefined : cacheBreakText(broken),
    context:
      request.purpose === "plan"
        ? { plan, leftOut: [...leftOutTexts(plan), ...refusedTexts(state)] }
        : undefined,
  };
}

/** What the request leaves out because its provider has refused it. */
function refusedTexts(state: AgentState): readonly string[] {
  const ladder = ladderAt(state);
  const text = ladder && rungText(ladder);
  return text === undefined ? [] : [text];
}

/** The whole request of a position as JSON; undefined where there is none. */
export const requestJsonAt = (history: SessionHistory, seq: number): string | undefined => {
  const found = requestAt(history, seq);
  return found === undefined ? undefined : JSON.stringify(found.request, null, 2);
};

interface FoundRequest {
  /** The state that wants it. */
  readonly state: AgentState;
  readonly request: LlmRequest;
  readonly sentAt: number | undefined;
}

function requestAt(history: SessionHistory, seq: number): FoundRequest | undefined {
  const state = history.stateAt(seq);
  const { control } = state.reActContext;
  const wanted = llmRequestAt(state);
  if (wanted !== undefined) {
    const isSent = (control.type === "Planning" || control.type === "Reflecting") && control.started;
    return {
      state,
      request: wanted,
      sentAt: isSent ? history.modelCalls.findLast((call) => call <= seq) : undefined,
    };
  }
  const sentAt = history.modelCalls.findLast((call) => call <= seq);
  const sent = sentAt === undefined ? state : history.stateAt(sentAt);
  const request = llmRequestAt(sent);
  return request && { state: sent, request, sentAt };
}

const settingsText = ({ toolChoice, parallelToolCalls, answerSchema, settings }: LlmRequest): string =>
  JSON.stringify({ toolChoice, parallelToolCalls, answerSchema, settings }, null, 2);

function blocksOf(message: LlmMessage): readonly RequestBlock[] {
  switch (message.role) {
    case "user":
      return message.content.map(contentBlock);
    case "note":
      return [{ kind: "text", title: "note", text: cut(message.text) }];
    case "assistant":
      return [
        ...message.turn.parts.map(partBlock),
        ...message.results.map(({ isError, content }): RequestBlock => ({
          kind: isError ? "error" : "result",
          title: isError ? "error" : "result",
          text: cut(content),
        })),
      ];
  }
}

const contentBlock = (content: LlmContent): RequestBlock =>
  content.type === "text" ? { kind: "text", title: "", text: cut(content.text) } : fileBlock(content.file);

const fileBlock = ({ mediaType, name = "file" }: RequestFile): RequestBlock => ({
  kind: "file",
  title: mediaType,
  text: name,
});

type RequestFile = Extract<LlmContent, { type: "file" }>["file"];

type Part = Extract<LlmMessage, { role: "assistant" }>["turn"]["parts"][number];

function partBlock(part: Part): RequestBlock {
  switch (part.type) {
    case "text":
      return { kind: "text", title: "", text: cut(part.text) };
    case "reasoning":
      return { kind: "reasoning", title: "reasoning", text: cut(part.text) };
    case "tool-call":
      return { kind: "tool-call", title: `${part.name} ${part.id}`, text: cut(part.arguments) };
    case "file":
      return fileBlock(part.file);
    case "opaque":
      return { kind: "opaque", title: "of the provider", text: cut(JSON.stringify(part.raw)) };
  }
}

const cut = (text: string): string =>
  text.length <= maxBlock ? text : `${text.slice(0, maxBlock).toWellFormed()}… (${text.length} characters)`;
