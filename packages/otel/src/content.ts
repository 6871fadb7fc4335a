import type { Attributes } from "@opentelemetry/api";
import { llmRequestAt } from "@moora/agent-core-effects";
import { textToJson } from "@moora/agent-core-effects/internal";
import {
  failureText,
  type AgentState,
  type ReActObservedInput,
  type ToolCallRecord,
  type TraceNote,
} from "@moora/agent-core-state-machine";
import { contentAttribute, finishReason } from "./names.ts";

/**
 * Whether spans contain what was said: messages, instructions, arguments and results, the names of reviewers, and the trace
 * notes of handlers. A function receives each of these attributes and returns its value, which may be shortened or redacted;
 * undefined leaves it out.
 */
export type Capture = boolean | ((attribute: string, value: string) => string | undefined);

/** Adds content to the attributes of spans. Without `capture` it adds none, and no request is computed. */
export class Content {
  readonly #capture: Capture;

  constructor(capture: Capture = false) {
    this.#capture = capture;
  }

  get isCaptured(): boolean {
    return this.#capture !== false;
  }

  /** The attributes of the request of a model call. */
  ofRequest(state: AgentState): Attributes {
    const request = this.isCaptured ? llmRequestAt(state) : undefined;
    if (request === undefined) return {};
    return {
      ...this.#one(contentAttribute.inputMessages, JSON.stringify(request.messages.flatMap(messageToParts))),
      ...(request.system === ""
        ? {}
        : this.#one(contentAttribute.systemInstructions, JSON.stringify([textPart(request.system)]))),
    };
  }

  /** The attributes of the answer of a model call. */
  ofAnswer({ turn, observation, finish }: ReActObservedInput): Attributes {
    if (!this.isCaptured || turn === undefined) return {};
    const calls = observation.type === "continue-re-act" ? observation.toolCalls : {};
    const parts = turn.parts.flatMap((part): readonly Part[] => {
      if (part.type === "text") return [textPart(part.text)];
      if (part.type === "reasoning") return [{ type: "reasoning", content: part.text }];
      if (part.type === "file") return [filePart(part.file)];
      if (part.type === "call") return [callPart(part.toolCallId, calls[part.toolCallId])];
      return [];
    });
    const message = {
      role: "assistant",
      parts,
      finish_reason: finish === undefined ? "stop" : finishReason(finish),
    };
    return this.#one(contentAttribute.outputMessages, JSON.stringify([message]));
  }

  ofSummary(summary: string): Attributes {
    const message = { role: "assistant", parts: [textPart(summary)], finish_reason: "stop" };
    return this.#one(contentAttribute.outputMessages, JSON.stringify([message]));
  }

  ofArguments({ parameters }: ToolCallRecord): Attributes {
    return this.#one(contentAttribute.toolArguments, parameters);
  }

  ofResult({ result }: ToolCallRecord): Attributes {
    if (result === null) return {};
    return this.#one(contentAttribute.toolResult, result.isSuccess ? result.content : failureText(result));
  }

  /** Who has answered a question, and why. */
  ofDecision(by: string, reason: string | undefined): Attributes {
    return {
      ...this.#one(contentAttribute.decidedBy, by),
      ...(reason === undefined ? {} : this.#one(contentAttribute.decisionReason, reason)),
    };
  }

  /** What a handler has noted in the trace. */
  ofTrace({ text, data }: TraceNote): Attributes {
    return {
      ...this.#one(contentAttribute.traceText, text),
      ...(data === undefined ? {} : this.#one(contentAttribute.traceData, JSON.stringify(data))),
    };
  }

  #one(attribute: string, value: string): Attributes {
    if (this.#capture === false) return {};
    const captured = this.#capture === true ? value : this.#capture(attribute, value);
    return captured === undefined ? {} : { [attribute]: captured };
  }
}

/** A part of a message, in the form of the conventions. */
type Part = Readonly<Record<string, unknown>>;

const textPart = (content: string): Part => ({ type: "text", content });

/** A file without its bytes. */
const filePart = ({ mediaType }: { readonly mediaType: string }): Part => ({
  type: "file",
  mime_type: mediaType,
  modality: "file",
});

const callPart = (
  id: string,
  call: { readonly name: string; readonly parameters: string } | undefined,
): Part => ({
  type: "tool_call",
  id,
  name: call?.name ?? "",
  arguments: textToJson(call?.parameters ?? "") ?? call?.parameters,
});

type RequestMessage = NonNullable<ReturnType<typeof llmRequestAt>>["messages"][number];

interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
}

/** The messages of the conventions for one message of a request: the results of tools are messages of their own. */
function messageToParts(message: RequestMessage): readonly Message[] {
  if (message.role === "note") return [{ role: "user", parts: [textPart(message.text)] }];
  if (message.role === "user") {
    const parts = message.content.map((part) =>
      part.type === "text" ? textPart(part.text) : filePart(part.file),
    );
    return [{ role: "user", parts }];
  }
  const called: string[] = [];
  const parts = message.turn.parts.flatMap((part): readonly Part[] => {
    if (part.type === "text") return [textPart(part.text)];
    if (part.type === "reasoning") return [{ type: "reasoning", content: part.text }];
    if (part.type === "file") return [filePart(part.file)];
    if (part.type !== "tool-call") return [];
    called.push(part.id);
    return [callPart(part.id, { name: part.name, parameters: part.arguments })];
  });
  const responses = message.results.map(({ content }, index): Part => ({
    type: "tool_call_response",
    id: called[index] ?? "",
    response: content,
  }));
  const turn: Message = { role: "assistant", parts };
  return responses.length === 0 ? [turn] : [turn, { role: "tool", parts: responses }];
}
