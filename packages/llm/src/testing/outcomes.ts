import { checkOptions, optionForms, type OptionForm, type OptionForms } from "../check-options.ts";
import { failedOutcome, failureOf } from "../failure.ts";
import type { Json } from "../json.ts";
import { LlmOptionError } from "../llm-option-error.ts";
import { noUsage, type LlmFailure, type LlmFailureKind, type LlmOutcome, type LlmUsage } from "../outcome.ts";
import type { LlmFile, LlmPart } from "../request.ts";
import { shownStep } from "./shown-step.ts";

/** The details of a scripted answer, apart from its content. */
export interface AnswerDetails {
  readonly model?: string;
  readonly usage?: Partial<LlmUsage>;
  readonly confidence?: number;
  readonly warnings?: readonly string[];
  /** Reasoning before the answer. */
  readonly reasoning?: string;
  /** Text before the tool calls. */
  readonly text?: string;
  /** Files that the model makes, after its text or its calls. */
  readonly files?: readonly LlmFile[];
  /** Default: `tool-calls` for an answer with tool calls, otherwise `stop`. */
  readonly finish?: "stop" | "tool-calls" | "length" | "other";
}

/** A tool call of a scripted model. */
export interface ScriptedToolCall {
  readonly name: string;
  /** The JSON text of the arguments, or their value. Default: an empty object. */
  readonly arguments?: Json;
  /** Default: `call_1`, `call_2` and so on. */
  readonly id?: string;
}

/** The origin of all scripted turns. */
export const mockOrigin = "mock";

/** The forms of the amounts of a usage. A test may give amounts that providers must not report. */
export const usageForm: OptionForm = {
  ...optionForms.object,
  fields: {
    inputTokens: "any",
    cachedInputTokens: "any",
    cacheWriteTokens: "any",
    outputTokens: "any",
    reasoningTokens: "any",
  },
};

const detailForms: OptionForms<AnswerDetails> = {
  model: "string",
  usage: usageForm,
  confidence: "any",
  warnings: "any",
  reasoning: "string",
  text: "string",
  files: "any",
  finish: "any",
};

const callForms: OptionForms<ScriptedToolCall> = { name: "string", arguments: "any", id: "any" };

/** The outcome of a model that answers with a text. Throws `LlmOptionError` for an unknown detail, as the other steps do. */
export const answers = (text: string, details: AnswerDetails = {}): LlmOutcome => {
  checkOptions("answers", details, detailForms);
  return turnOf([{ type: "text", text }], details);
};

/** The outcome of a model that calls tools. Throws `LlmOptionError` if `calls` is not a list of objects with a name. */
export const callsTools = (calls: readonly ScriptedToolCall[], details: AnswerDetails = {}): LlmOutcome => {
  checkCalls(calls);
  for (const call of calls) checkOptions("a call of callsTools", call, callForms);
  checkOptions("callsTools", details, detailForms);
  return turnOf(
    [
      ...(details.text === undefined ? [] : [{ type: "text", text: details.text } as const]),
      ...calls.map(({ id, name, arguments: value = {} }, index): LlmPart => ({
        type: "tool-call",
        id: id ?? `call_${index + 1}`,
        name,
        arguments: typeof value === "string" ? value : JSON.stringify(value),
      })),
    ],
    details,
  );
};

/** Tests without types may pass any value. */
function checkCalls(calls: unknown): void {
  const shape =
    'callsTools needs a list of calls, such as callsTools([{ name: "search", arguments: { q: "x" } }])';
  if (!Array.isArray(calls)) throw new LlmOptionError(`${shape}, got ${shownStep(calls)}.`);
  const index = calls.findIndex((call) => !isCall(call));
  if (index >= 0)
    throw new LlmOptionError(`${shape}; call ${index + 1} has no name, got ${shownStep(calls[index])}.`);
}

const isCall = (call: unknown): boolean =>
  typeof call === "object" && call !== null && "name" in call && typeof call.name === "string";

/** The details of a scripted failure. */
type FailureDetails = Partial<Omit<LlmFailure, "kind">> & {
  readonly partial?: string;
  readonly usage?: Partial<LlmUsage>;
};

const failureForms: OptionForms<FailureDetails> = {
  message: "string",
  retryable: "boolean",
  retryAfterMs: "any",
  status: "any",
  raw: "any",
  refusedBy: "string",
  blamesFiles: "boolean",
  partial: "string",
  usage: usageForm,
};

/** The outcome of a failed call. `partial` is the text that is streamed before the failure. */
export const fails = (kind: LlmFailureKind, details: FailureDetails = {}): LlmOutcome => {
  checkOptions("fails", details, failureForms);
  const { partial = "", usage, message = `Scripted failure: ${kind}`, ...overrides } = details;
  return failedOutcome(failureOf(kind, message, overrides), partial, usage && { ...noUsage, ...usage });
};

function turnOf(parts: readonly LlmPart[], details: AnswerDetails): LlmOutcome {
  const { reasoning, files = [], confidence, warnings } = details;
  const made = [...parts, ...files.map((file): LlmPart => ({ type: "file", file }))];
  const finish = details.finish ?? (parts.some((part) => part.type === "tool-call") ? "tool-calls" : "stop");
  return {
    ok: true,
    turn: {
      origin: mockOrigin,
      parts:
        reasoning === undefined
          ? made
          : [{ type: "reasoning", text: reasoning, raw: { scripted: true } }, ...made],
    },
    model: details.model ?? "",
    usage: { ...noUsage, ...details.usage },
    ...(confidence !== undefined && { confidence }),
    ...(warnings && { warnings }),
    finish: { unified: finish, raw: finish },
  };
}
