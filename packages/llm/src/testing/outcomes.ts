import { failedOutcome, failureOf } from "../failure.ts";
import type { Json } from "../json.ts";
import { noUsage } from "../outcome.ts";
import type { LlmFailure, LlmFailureKind, LlmOutcome, LlmUsage } from "../outcome.ts";
import type { LlmPart } from "../request.ts";

/** What a scripted answer may say beside its content. */
export interface AnswerDetails {
  readonly model?: string;
  readonly usage?: Partial<LlmUsage>;
  readonly confidence?: number;
  readonly warnings?: readonly string[];
  /** Text that the model thinks before it answers. */
  readonly reasoning?: string;
  /** Text that stands before tool calls. */
  readonly text?: string;
  /** Default: `tool-calls` when there are any, otherwise `stop`. */
  readonly finish?: "stop" | "tool-calls" | "length" | "other";
}

/** A call that a scripted model makes. Arguments that are no string become JSON; the id counts up when it is missing. */
export interface ScriptedToolCall {
  readonly name: string;
  readonly arguments?: Json;
  readonly id?: string;
}

/** The origin of all scripted turns. */
export const mockOrigin = "mock";

/** A model that answers with a text. */
export const answers = (text: string, details: AnswerDetails = {}): LlmOutcome =>
  turnOf([{ type: "text", text }], details);

/** A model that calls tools. */
export const callsTools = (calls: readonly ScriptedToolCall[], details: AnswerDetails = {}): LlmOutcome =>
  turnOf(
    [
      ...(details.text === undefined ? [] : [{ type: "text", text: details.text } as const]),
      ...calls.map(({ id, name, arguments: given = {} }, index): LlmPart => ({
        type: "tool-call",
        id: id ?? `call_${index + 1}`,
        name,
        arguments: typeof given === "string" ? given : JSON.stringify(given),
      })),
    ],
    details,
  );

/** A call that fails. `partial` is the text that had been streamed before. */
export const fails = (
  kind: LlmFailureKind,
  details: Partial<Omit<LlmFailure, "kind">> & {
    readonly partial?: string;
    readonly usage?: Partial<LlmUsage>;
  } = {},
): LlmOutcome => {
  const { partial = "", usage, message = `scripted failure: ${kind}`, ...known } = details;
  return failedOutcome(failureOf(kind, message, known), partial, usage && { ...noUsage, ...usage });
};

function turnOf(parts: readonly LlmPart[], details: AnswerDetails): LlmOutcome {
  const { reasoning, confidence, warnings } = details;
  const finish = details.finish ?? (parts.some((part) => part.type === "tool-call") ? "tool-calls" : "stop");
  return {
    ok: true,
    turn: {
      origin: mockOrigin,
      parts:
        reasoning === undefined
          ? parts
          : [{ type: "reasoning", text: reasoning, raw: { scripted: true } }, ...parts],
    },
    model: details.model ?? "",
    usage: { ...noUsage, ...details.usage },
    ...(confidence !== undefined && { confidence }),
    ...(warnings && { warnings }),
    finish: { unified: finish, raw: finish },
  };
}
