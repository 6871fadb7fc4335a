import type { AgentAttachment, Handoff, UsageReport } from "@moora/agent-core-state-machine";
import { jsonCopy } from "@moora/agent-core-state-machine/internal";
import { optionForms, required, type OptionForms } from "@moora/llm/internal";
import { DataRefused } from "../data/data-refused.ts";
import { checkOptions } from "../check-options.ts";
import { errorText } from "../error-text.ts";
import { resultToJson } from "./result-to-json.ts";
import { isToolQuestion, questionToOutcome, type ToolQuestion } from "./tool-asks.ts";

/** The result of a tool with more than text or JSON: files, an error, or usage. */
export interface ToolReply {
  readonly content: string;
  readonly files?: readonly AgentAttachment[];
  readonly isError?: boolean;
  /** The code of the error, for programs: stable across releases of the tool. Default: "tool-error". */
  readonly code?: string;
  /** The usage of the models that the tool called. It counts as usage of the agent. */
  readonly usage?: UsageReport;
}

/** The forms of the fields of a file. */
export const fileForms: OptionForms<AgentAttachment> = {
  mediaType: required("string"),
  url: required("string"),
  name: "string",
};

const usageForms: OptionForms<UsageReport> = {
  inputTokens: "any",
  cachedInputTokens: "any",
  cacheWriteTokens: "any",
  outputTokens: "any",
  reasoningTokens: "any",
  cost: "any",
  estimated: "any",
};

const forms: OptionForms<ToolReply> = {
  content: required("string"),
  files: {
    expectation: "a list of files, each with mediaType and url",
    fits: (value) => Array.isArray(value),
    fields: fileForms,
  },
  isError: "boolean",
  code: {
    expectation: "a non-empty string",
    fits: (value) => typeof value === "string" && value !== "",
  },
  usage: { ...optionForms.object, fields: usageForms },
};

/** Replies are recognized by identity: an object of this shape that `toolReply` did not return is JSON. */
const replies = new WeakSet<object>();

/** Creates the reply of a tool with files, as an error, or with usage. Throws `BuildError` if `content` is not a string. */
export function toolReply(reply: ToolReply): ToolReply {
  checkOptions("toolReply", reply, forms, { placeOf: (path) => `toolReply: ${path}` });
  const made = { ...reply };
  replies.add(made);
  return made;
}

/** The outcome of a tool call: content for the model, or an error with a stable code. */
export type ToolOutcome = (
  | { readonly isSuccess: true; readonly content: string; readonly files?: readonly AgentAttachment[] }
  | {
      readonly isSuccess: false;
      readonly error: string;
      readonly code: string;
      /** Whether the call may be repeated, if its tool has `retries`. */
      readonly retryable?: true;
      /** The question of the tool, as `toolAsks` returned it: not a failure where a person can be asked. */
      readonly asks?: ToolQuestion["asks"];
    }
) & {
  /** The usage of the models that the tool called. */
  readonly usage?: UsageReport;
  /** Hands the conversation to another agent of a team, if the call succeeds. */
  readonly handoff?: Handoff;
};

/**
 * The outcome of a returned value. The content is a text unchanged, an empty text for undefined, or the JSON text of any
 * other value; always well-formed. A value that is not JSON is an error that names the tool, the kind of the value, its path
 * and the fix.
 */
export function outputToOutcome(output: unknown, toolName: string): ToolOutcome {
  if (typeof output === "string") return { isSuccess: true, content: output.toWellFormed() };
  if (output === undefined) return { isSuccess: true, content: "" };
  if (typeof output === "object" && output !== null && replies.has(output))
    // Only `toolReply` puts objects into the set.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return replyToOutcome(output as ToolReply, toolName);
  if (isToolQuestion(output)) return questionToOutcome(output, toolName);
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
  { content, files, isError, code = "tool-error" }: Omit<ToolReply, "usage">,
  toolName: string,
): ToolOutcome {
  const text = content.toWellFormed();
  if (isError === true) return { isSuccess: false, error: text, code };
  if (files === undefined) return { isSuccess: true, content: text };
  const copied = jsonCopy(files);
  if ("copy" in copied) return { isSuccess: true, content: text, files };
  const { path, message } = copied.problem;
  return unusable(`The tool ${toolName} replied with files that are not JSON: files${path}: ${message}`);
}

/** The outcome of a call whose result is invalid. The error states that the call ran, so that the model expects its effect. */
const unusable = (error: string, code: "not-json" | "too-large" = "not-json"): ToolOutcome => ({
  isSuccess: false,
  error: `${error} The call ran and may have had its effect.`,
  code,
});

/** The outcome of a call that threw: the message for the model, without the stack. */
export const thrownToOutcome = (error: unknown): ToolOutcome =>
  error instanceof DataRefused
    ? { isSuccess: false, error: errorText(error), code: "data-refused" }
    : { isSuccess: false, error: errorText(error), code: "tool-error", retryable: true };
