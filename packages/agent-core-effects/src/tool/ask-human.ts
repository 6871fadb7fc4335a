import type { JsonObject } from "@moora/llm";
import type { OptionForms } from "@moora/llm/internal";
import { checkOptions } from "../check-options.ts";
import { defineTool, type Tool } from "./define-tool.ts";
import { schemaCheckOf } from "./schema-check.ts";
import type { ArgumentsOf, StandardSchema } from "./standard-schema.ts";
import { toolReply, type ToolReply } from "./tool-reply.ts";

/** The options of `askHuman`. Defaults: the name `ask_human`, a description, an input with the text `question`, any answer. */
export interface AskHumanOptions<
  Name extends string = string,
  Input = StandardSchema | JsonObject,
  Answer = StandardSchema | JsonObject,
> {
  readonly name?: Name;
  readonly description?: string;
  /** The schema of the question that the model asks. */
  readonly input?: Input;
  /** The schema of the answer. An answer that does not match it is refused, and the question stays open. */
  readonly answer?: Answer;
  /** The names that the tool had in earlier releases. Default: none. */
  readonly formerNames?: readonly string[];
}

const defaultDescription =
  "Asks the person you work for, and waits for the answer. For what only they can know or decide.";

const question: JsonObject = {
  type: "object",
  properties: { question: { type: "string", description: "The question, complete in itself." } },
  required: ["question"],
  additionalProperties: false,
};

const forms: OptionForms<AskHumanOptions> = {
  name: "any",
  description: "any",
  input: "any",
  answer: "any",
  formerNames: "any",
};

/** The schema of what the model writes by default: the text `question`. */
type DefaultQuestion = StandardSchema & {
  readonly "~standard": { readonly types?: { readonly input: { readonly question: string } } | undefined };
};

/** What a person may answer. A JSON Schema does not determine a type. */
type AnswerBy<Schema> = Schema extends StandardSchema ? ArgumentsOf<Schema> : unknown;

/**
 * Creates a tool whose calls a person answers. A call is an open question, also across restarts, until the person answers;
 * the answer is its result. Throws `BuildError` as `defineTool` does.
 */
export function askHuman<
  const Name extends string = "ask_human",
  const Input extends StandardSchema | JsonObject = DefaultQuestion,
  const Answer extends StandardSchema | JsonObject = StandardSchema,
>(
  options: AskHumanOptions<Name, Input, Answer> = {},
): Tool<unknown, unknown, Name, ArgumentsOf<Input>, AnswerBy<Answer>> {
  // The name, the question and the answer exist only for types.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return questionTool(options) as Tool<unknown, unknown, Name, ArgumentsOf<Input>, AnswerBy<Answer>>;
}

function questionTool(options: AskHumanOptions): Tool {
  checkOptions("askHuman", options, forms);
  const { name = "ask_human", description = defaultDescription, input = question, answer } = options;
  const { formerNames } = options;
  const renamed = formerNames === undefined ? {} : { formerNames };
  const tool = defineTool({ name, description, input, ...renamed, execute: unasked });
  const place = `The answer of the tool ${name}`;
  const answerSchema =
    answer === undefined
      ? {}
      : { answerSchema: JSON.stringify(schemaCheckOf(answer, undefined, place).json) };
  return { ...tool, definition: { ...tool.definition, asksHuman: true, ...answerSchema } };
}

/** The `execute` of a question. Hosts ask a person instead; if one executes the call, it fails. */
const unasked = (): ToolReply => toolReply({ content: "No reviewer was asked.", isError: true });
