import type { JsonObject } from "@moora/llm";
import { refuse } from "../errors/build-error.ts";
import { shownValue } from "../field-problem.ts";
import { defineTool, type Tool } from "./define-tool.ts";
import { optionHint } from "@moora/llm/internal";
import { schemaCheckOf } from "./schema-check.ts";
import type { StandardSchema } from "./standard-schema.ts";
import { toolReply, type ToolReply } from "./tool-reply.ts";

/** Defaults: the name `ask_human`, a description that says when to ask, one text named `question`, any answer. */
export interface AskHumanOptions {
  readonly name?: string;
  readonly description?: string;
  /** The schema of what the model asks. */
  readonly input?: StandardSchema | JsonObject;
  /** The schema of the answer. One that does not fit is refused, and the question stays open. */
  readonly answer?: StandardSchema | JsonObject;
}

const defaultDescription =
  "Asks the person you work for, and waits for the answer. For what only they can know or decide.";

const question: JsonObject = {
  type: "object",
  properties: { question: { type: "string", description: "The question, complete in itself." } },
  required: ["question"],
  additionalProperties: false,
};

/** A row that is missing here does not compile. */
const optionNames: Readonly<Record<keyof AskHumanOptions, true>> = {
  name: true,
  description: true,
  input: true,
  answer: true,
};

/**
 * A tool that a person answers: its call waits as a question, for days and across restarts, and the answer is its result.
 * Throws `BuildError` as `defineTool` does, also for an unknown option.
 */
export function askHuman(options: AskHumanOptions = {}): Tool {
  if (typeof options !== "object" || options === null)
    refuse(`askHuman needs an object of options, got ${shownValue(options)}.`);
  const known = Object.keys(optionNames);
  for (const option of Object.keys(options)) {
    if (!known.includes(option))
      refuse(`Unknown option "${option}" of askHuman.${optionHint(option, known)}`);
  }
  const { name = "ask_human", description = defaultDescription, input = question, answer } = options;
  const tool = defineTool({ name, description, input, execute: unasked });
  const place = `The answer of the tool ${name}`;
  const answerSchema =
    answer === undefined
      ? {}
      : { answerSchema: JSON.stringify(schemaCheckOf(answer, undefined, place).json) };
  return { ...tool, definition: { ...tool.definition, asksHuman: true, ...answerSchema } };
}

/** No host executes a question. One that does gives the model no answer. */
const unasked = (): ToolReply => toolReply({ content: "No reviewer was asked.", isError: true });
