import type { AgentAttachment, UsageReport } from "@moora/agent-core-state-machine";
import { jsonCopy } from "@moora/agent-core-state-machine/internal";
import { refuse } from "../errors/build-error.ts";
import { shownValue } from "../field-problem.ts";
import { errorText } from "../error-text.ts";
import { resultToJson } from "./result-to-json.ts";

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

/** A reply with files, or one that the model reads as an error. Throws `BuildError` if `content` is not a string. */
export function toolReply(reply: ToolReply): ToolReply {
  if (typeof reply !== "object" || reply === null)
    refuse(`toolReply needs an object, { content, files, isError }, got ${shownValue(reply)}.`);
  if (typeof reply.content !== "string")
    refuse(`toolReply: content must be a string, got ${typeof reply.content}.`);
  const made = { ...reply };
  replies.add(made);
  return made;
}

/** What a call of a tool resulted in: content for the model, or an error with a stable code. */
export type ToolOutcome = (
  | { readonly isSuccess: true; readonly content: string; readonly files?: readonly AgentAttachment[] }
  | { readonly isSuccess: false; readonly error: string; readonly code: string }
) & {
  /** What models used that the tool called itself. */
  readonly usage?: UsageReport;
};

/**
 * What the model reads of a returned value: text as it is, nothing as an empty text, other values as JSON text; well-formed
 * in each case. A value that is not JSON is an error that names the tool, the value, its path and what to return.
 */
export function outputToOutcome(output: unknown, toolName: string): ToolOutcome {
  if (typeof output === "string") return { isSuccess: true, content: output.toWellFormed() };
  if (output === undefined) return { isSuccess: true, content: "" };
  if (typeof output === "object" && output !== null && replies.has(output))
    // Only `toolReply` puts objects into the set.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return replyToOutcome(output as ToolReply, toolName);
  const json = resultToJson(output);
  return json.ok
    ? { isSuccess: true, content: json.text.toWellFormed() }
    : unusable(`The tool ${toolName} returned ${json.problem}.`, json.code);
}

const replyToOutcome = ({ usage, ...reply }: ToolReply, toolName: string): ToolOutcome => ({
  ...contentToOutcome(reply, toolName),
  ...(usage === undefined ? {} : { usage }),
});

function contentToOutcome(
  { content, files, isError }: Omit<ToolReply, "usage">,
  toolName: string,
): ToolOutcome {
  const text = content.toWellFormed();
  if (isError === true) return { isSuccess: false, error: text, code: "tool-error" };
  if (files === undefined) return { isSuccess: true, content: text };
  const copied = jsonCopy(files);
  if ("copy" in copied) return { isSuccess: true, content: text, files };
  const { path, message } = copied.problem;
  return unusable(`The tool ${toolName} replied with files that are not JSON: files${path}: ${message}`);
}

/** The tool did run: the model must not take the error for a call that had no effect. */
const unusable = (error: string, code: "not-json" | "too-large" = "not-json"): ToolOutcome => ({
  isSuccess: false,
  error: `${error} The call ran and may have had its effect.`,
  code,
});

/** What a tool threw, for the model: the message, not the stack. */
export const thrownToOutcome = (error: unknown): ToolOutcome => ({
  isSuccess: false,
  error: errorText(error),
  code: "tool-error",
});
