import {
  llmRequestAt,
  type AgentState,
  type LlmContent,
  type LlmMessage,
  type LlmRequest,
} from "@moora/agent";
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

/** A request to the model, beside the one before it. */
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
  /** Whether the system prompt, the tools and the settings are those of the request before. */
  readonly hasSameHead: boolean;
  /** What the request leaves out, because its provider has refused an earlier one with it; undefined if nothing. */
  readonly leftOut: string | undefined;
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
  const ladder = ladderAt(state);
  const previousAt = history.modelCalls.findLast((call) => call < (sentAt ?? seq + 1));
  const previous = previousAt === undefined ? undefined : llmRequestAt(history.stateAt(previousAt));
  const stable = commonMessages(previous, request);
  const { messages } = request;
  const omitted = Math.max(0, messages.length - mostMessages);
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
    leftOut: ladder && rungText(ladder),
    hasSameHead: previous !== undefined && headText(previous) === headText(request),
  };
}

/** The whole request of a position as JSON; undefined where there is none. */
export const requestJsonAt = (history: SessionHistory, seq: number): string | undefined => {
  const found = requestAt(history, seq);
  return found === undefined ? undefined : JSON.stringify(found.request, null, 2);
};

interface FoundRequest {
  readonly request: LlmRequest;
  readonly sentAt: number | undefined;
  /** The state that the request is made of. */
  readonly state: AgentState;
}

function requestAt(history: SessionHistory, seq: number): FoundRequest | undefined {
  const state = history.stateAt(seq);
  const { control } = state.reActContext;
  const wanted = llmRequestAt(state);
  if (wanted !== undefined) {
    const isSent = (control.type === "Planning" || control.type === "Reflecting") && control.started;
    return {
      request: wanted,
      state,
      sentAt: isSent ? history.modelCalls.findLast((call) => call <= seq) : undefined,
    };
  }
  const sentAt = history.modelCalls.findLast((call) => call <= seq);
  if (sentAt === undefined) return undefined;
  const before = history.stateAt(sentAt);
  const request = llmRequestAt(before);
  return request === undefined ? undefined : { request, sentAt, state: before };
}

function commonMessages(previous: LlmRequest | undefined, { messages }: LlmRequest): number {
  if (previous === undefined) return 0;
  const different = messages.findIndex(
    (message, index) => JSON.stringify(message) !== JSON.stringify(previous.messages[index]),
  );
  return different < 0 ? messages.length : different;
}

const headText = ({ system, tools, ...request }: LlmRequest): string =>
  JSON.stringify([system, tools, settingsText({ system, tools, ...request })]);

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
