import { jsonCopy, type AgentAttachment, type UsageReport } from "@moora/agent-core-state-machine";
import { errorText } from "../error-text.ts";

/** What a tool gives back when text or JSON is not enough. */
export interface ToolReply {
  readonly content: string;
  readonly files?: readonly AgentAttachment[];
  readonly isError?: boolean;
  /** What models used that the tool called itself: it counts for the agent. */
  readonly usage?: UsageReport;
}

/** Known by identity: a tool that returns an object of this shape without `toolReply` returns JSON. */
const replies = new WeakSet<object>();

/** A reply with files, or one that the model reads as an error. Throws for a content that is no text. */
export function toolReply(reply: ToolReply): ToolReply {
  if (typeof reply.content !== "string") throw new TypeError("The content of a toolReply is text.");
  const made = { ...reply };
  replies.add(made);
  return made;
}

export type ToolOutcome = (
  | { readonly isSuccess: true; readonly content: string; readonly files?: readonly AgentAttachment[] }
  | { readonly isSuccess: false; readonly error: string; readonly code: string }
) & {
  /** What models used that the tool called itself. */
  readonly usage?: UsageReport;
};

/** Text as it is, JSON as JSON text, nothing as an empty text; well-formed in any case. */
export function outputToOutcome(output: unknown): ToolOutcome {
  if (typeof output === "string") return { isSuccess: true, content: output.toWellFormed() };
  if (output === undefined) return { isSuccess: true, content: "" };
  if (typeof output === "object" && output !== null && replies.has(output))
    // Only `toolReply` puts objects into the set.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return replyToOutcome(output as ToolReply);
  const text = jsonText(output);
  return text === undefined
    ? notJson("The tool returned something that is not JSON.")
    : { isSuccess: true, content: text.toWellFormed() };
}

const replyToOutcome = ({ usage, ...reply }: ToolReply): ToolOutcome => ({
  ...contentToOutcome(reply),
  ...(usage === undefined ? {} : { usage }),
});

function contentToOutcome({ content, files, isError }: Omit<ToolReply, "usage">): ToolOutcome {
  const text = content.toWellFormed();
  if (isError === true) return { isSuccess: false, error: text, code: "tool-error" };
  if (files === undefined) return { isSuccess: true, content: text };
  const copied = jsonCopy(files);
  return "problem" in copied
    ? notJson(`The files of the tool's reply cannot be kept: ${copied.problem.message}`)
    : { isSuccess: true, content: text, files };
}

const notJson = (error: string): ToolOutcome => ({ isSuccess: false, error, code: "not-json" });

function jsonText(value: unknown): string | undefined {
  try {
    if (typeof value === "object" && value !== null && "then" in value && typeof value.then === "function")
      return undefined;
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** What a tool threw, for the model: the message, not the stack. */
export const thrownToOutcome = (error: unknown): ToolOutcome => ({
  isSuccess: false,
  error: errorText(error),
  code: "tool-error",
});
