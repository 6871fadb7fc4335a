import { failureText, type AgentAttachment, type ToolCallResult } from "@moora/agent";

/**
 * The parts of a message that show tool calls. `dynamic`: of the type `dynamic-tool`, with the name beside it; `static`: of the type
 * `tool-NAME`, as a page has them whose messages have the types of its tools.
 */
export type ToolParts = "dynamic" | "static";

/** What a page needs to show a question: its text, without which the call itself is the question, and the JSON Schema of its answer, as a text. */
interface QuestionFields {
  readonly question?: string;
  /** Without one, any text is an answer. */
  readonly answerSchema?: string;
}

/** A call with its input. */
interface ShownCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** Whether no type of a page can know the tool: it is that of a sub-agent. Formats may set it for all tools. */
  readonly dynamic?: true;
}

/** A chunk of a UI message stream of the AI SDK, as far as this server sends them. */
export type UiChunk =
  | { readonly type: "start"; readonly messageId: string }
  | { readonly type: "start-step" | "finish-step" | "reset-step" }
  | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | {
      readonly type: "tool-input-start";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly dynamic?: true;
    }
  | { readonly type: "tool-input-delta"; readonly toolCallId: string; readonly inputTextDelta: string }
  /** `toolMetadata`: the question that waits for the output. */
  | (ShownCall & {
      readonly type: "tool-input-available";
      readonly toolMetadata?: { readonly digest: string } & QuestionFields;
    })
  /** A reviewer has changed the input of a call that was sent. What was decided about the call follows. Formats translate it. */
  | (ShownCall & { readonly type: "tool-input-changed" })
  /** A call waits for the answer to a question, or for an approval, which follows. It has no output until then. Formats translate it. */
  | (ShownCall & QuestionFields & { readonly type: "tool-question"; readonly digest: string })
  | {
      readonly type: "tool-approval-request";
      readonly toolCallId: string;
      readonly approvalId: string;
    }
  | {
      readonly type: "tool-approval-response";
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | {
      readonly type: "tool-output-available";
      readonly toolCallId: string;
      readonly output: unknown;
      readonly dynamic?: true;
    }
  | {
      readonly type: "tool-output-error";
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic?: true;
    }
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }
  | { readonly type: "file"; readonly mediaType: string; readonly url: string }
  | {
      readonly type: "data-progress";
      readonly id: string;
      readonly data: string;
      readonly transient: true;
    }
  | { readonly type: "finish"; readonly finishReason: "stop" | "tool-calls" }
  | { readonly type: "abort"; readonly reason: string }
  /** `code` names the problem of a request that is refused. */
  | { readonly type: "error"; readonly errorText: string; readonly code?: string };

/** The chunk that shows a file. */
export const fileToChunk = ({ mediaType, url }: Pick<AgentAttachment, "mediaType" | "url">): UiChunk => ({
  type: "file",
  mediaType,
  url,
});

/** The value of a JSON text; the text itself if it is not JSON. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The text of a value: a text itself, and any other as JSON. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The chunk of a result of a call. */
export function resultChunk(toolCallId: string, result: ToolCallResult): UiChunk {
  if (result.isSuccess) return { type: "tool-output-available", toolCallId, output: valueOf(result.content) };
  if (result.code === "rejected") return { type: "tool-output-denied", toolCallId };
  return { type: "tool-output-error", toolCallId, errorText: failureText(result) };
}
