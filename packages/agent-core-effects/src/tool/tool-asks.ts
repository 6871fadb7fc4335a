import type { Json } from "@moora/agent-core-state-machine";
import { jsonCopy } from "@moora/agent-core-state-machine/internal";
import type { JsonObject } from "@moora/llm";
import { required, type OptionForms } from "@moora/llm/internal";
import { checkOptions } from "../check-options.ts";
import { refuse } from "../errors/build-error.ts";
import { schemaCheckOf } from "./schema-check.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** The options of `toolAsks`. */
export interface ToolAsksOptions {
  /** What the person reads: complete in itself. */
  readonly question: string;
  /** The schema of the answer. An answer that does not match it is refused, and the question stays open. Default: any text. */
  readonly answer?: StandardSchema | JsonObject;
  /** What `execute` is given again with the reply, as `context.asked.state`. JSON. Default: null. */
  readonly state?: unknown;
}

/** A question that a tool returns instead of a result. */
export interface ToolQuestion {
  readonly asks: {
    readonly question: string;
    /** JSON text of a JSON Schema. */
    readonly answerSchema?: string;
    readonly state: Json;
  };
}

/** A question of an earlier attempt of a call, with its reply, as `context.asked`. */
export interface AskedByTool {
  readonly question: string;
  /** What the earlier attempt gave to `toolAsks`. */
  readonly state: Json;
  /** The answer, or why there is none: refused by a person, or not answered in time. Not an error: the tool decides what follows. */
  readonly reply:
    | { readonly type: "answered"; readonly answer: Json; readonly by: string }
    | { readonly type: "refused"; readonly reason: string; readonly by: string };
}

const forms: OptionForms<ToolAsksOptions> = {
  question: required({
    expectation: "a text",
    fits: (value) => typeof value === "string" && value !== "",
  }),
  answer: "any",
  state: "any",
};

/** Questions are recognized by identity: an object of this shape that `toolAsks` did not return is JSON. */
const questions = new WeakSet<object>();

/**
 * Asks a person in the middle of a call: `return toolAsks({ question, answer, state })`. The call is an open question, also across
 * restarts. With the reply `execute` runs again, as a further attempt with the same `idempotencyKey` and with `context.asked`.
 * Throws `BuildError` for a question that is not a text, an invalid schema, and a state that is not JSON.
 */
export function toolAsks(options: ToolAsksOptions): ToolQuestion {
  checkOptions("toolAsks", options, forms, { placeOf: (path) => `toolAsks: ${path}` });
  const { question, answer, state = null } = options;
  const copied = jsonCopy(state);
  if (!("copy" in copied)) return refuse(`toolAsks: ${placeOf(copied.problem)}: ${copied.problem.message}`);
  const schema =
    answer === undefined
      ? {}
      : { answerSchema: JSON.stringify(schemaCheckOf(answer, undefined, "The answer of toolAsks").json) };
  const asked: ToolQuestion = {
    asks: { question: question.toWellFormed(), ...schema, state: copied.copy },
  };
  questions.add(asked);
  return asked;
}

const placeOf = ({ path }: { readonly path: string }): string => (path === "" ? "state" : `state.${path}`);

/** Whether a value that a tool returned is a question. */
export const isToolQuestion = (value: unknown): value is ToolQuestion =>
  typeof value === "object" && value !== null && questions.has(value);

/** The outcome of a call that asks. Where no person can be asked, it is the failure that it says. */
export const questionToOutcome = ({ asks }: ToolQuestion, toolName: string): QuestionOutcome => ({
  isSuccess: false,
  error: `The tool ${toolName} asks a person, which it can do only in a call of the model. The call ran and may have had its effect.`,
  code: "tool-error",
  asks,
});

/** A failed outcome with the question. */
interface QuestionOutcome extends ToolQuestion {
  readonly isSuccess: false;
  readonly error: string;
  readonly code: string;
}
