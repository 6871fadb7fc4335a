import type { AgentAttachment } from "@moora/agent-core-state-machine";

/** What a tool gives back when text or JSON is not enough. */
export interface ToolReply {
  readonly content: string;
  readonly files?: readonly AgentAttachment[];
  readonly isError?: boolean;
}

/** Known by identity: a tool that returns an object of this shape without `toolReply` returns JSON. */
const replies = new WeakSet<object>();

/** A reply with files, or one that the model reads as an error. */
export function toolReply(reply: ToolReply): ToolReply {
  const made = { ...reply };
  replies.add(made);
  return made;
}

export type ToolOutcome =
  | { readonly isSuccess: true; readonly content: string; readonly files?: readonly AgentAttachment[] }
  | { readonly isSuccess: false; readonly error: string; readonly code: string };

/** Text as it is, JSON as JSON text, nothing as an empty text; well-formed in any case. */
export function outputToOutcome(output: unknown): ToolOutcome {
  if (typeof output === "string") return { isSuccess: true, content: output.toWellFormed() };
  if (output === undefined) return { isSuccess: true, content: "" };
  if (typeof output === "object" && output !== null && replies.has(output))
    return replyToOutcome(output as ToolReply);
  const text = jsonText(output);
  return text === undefined
    ? { isSuccess: false, error: "The tool returned something that is not JSON.", code: "not-json" }
    : { isSuccess: true, content: text.toWellFormed() };
}

function replyToOutcome({ content, files, isError }: ToolReply): ToolOutcome {
  const text = content.toWellFormed();
  if (isError === true) return { isSuccess: false, error: text, code: "tool-error" };
  return { isSuccess: true, content: text, ...(files === undefined ? {} : { files }) };
}

function jsonText(value: unknown): string | undefined {
  if (typeof value === "object" && value !== null && "then" in value && typeof value.then === "function")
    return undefined;
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** What a tool threw, for the model: the message, not the stack. */
export const thrownToOutcome = (error: unknown): ToolOutcome => ({
  isSuccess: false,
  error: (error instanceof Error && error.message !== "" ? error.message : String(error)).toWellFormed(),
  code: "tool-error",
});
