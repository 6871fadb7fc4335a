import type { Decision, Question } from "@moora/agent";
import { schemaCheckOf, truncated } from "@moora/agent-core-effects/internal";
import type { JsonObject } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import { schemaToField } from "./form-field.ts";

/** A question as a form: its text, and the schema of the answer. The protocol allows fields of simple types only. */
export interface QuestionForm {
  readonly message: string;
  readonly schema: {
    readonly type: "object";
    readonly properties: JsonObject;
    readonly required: readonly string[];
  };
}

/** What a person did with a form. */
export type FormAnswer =
  | { readonly action: "accept"; readonly content: Readonly<Record<string, unknown>> }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

/** The maximum length of the text of a question, in characters. */
const maxMessageLength = 4_000;

/** The maximum length of the reason why an answer was refused, in characters. */
const maxRefusalLength = 1_000;

/** The form for a question. `refusal`: why the last answer to it was refused. */
export function questionToForm(question: Question, refusal?: string): QuestionForm {
  const asked = firstForm(question);
  if (refusal === undefined) return asked;
  const reason = truncated(refusal, maxRefusalLength);
  return { ...asked, message: `${asked.message}\n\nThe last answer was refused: ${reason}` };
}

function firstForm(question: Question): QuestionForm {
  const { about, name, parameters } = question;
  const call = `${name}(${typeof parameters === "string" ? parameters : JSON.stringify(parameters)})`;
  switch (about) {
    case "approval":
      return form(`The agent asks for approval: may it call ${call}?${riskText(question)}`, {
        approve: { type: "boolean", title: "Approve" },
        reason: { type: "string", title: "Reason, which the agent reads" },
      });
    case "answer":
      return answerForm(question);
    case "outcome":
      return form(`The call ${call} was interrupted, and its outcome is not known. What was it?`, {
        outcome: { type: "string", enum: ["worked", "failed", "unknown", "run-again"] },
        detail: { type: "string", title: "Its result if it worked, the reason if it failed" },
      });
  }
}

/** The risk of a call, if its tool is defined with one above the default. */
const riskText = ({ risk = "low" }: Question): string => (risk === "low" ? "" : ` Its risk is ${risk}.`);

/** The form of a question of the model or of a tool: the fields of its answer if a form can show them, else one text. */
function answerForm(question: Question): QuestionForm {
  const { parameters } = question;
  const asked = question.question ?? (isJsonObject(parameters) ? parameters["question"] : undefined);
  const message = typeof asked === "string" ? asked : JSON.stringify(parameters);
  const schema = answerSchemaOf(question);
  const fields = schema && schemaToFields(schema);
  if (fields !== undefined) return { message: shown(message), schema: { type: "object", ...fields } };
  const title = schema === undefined ? "Answer" : "Answer, as JSON";
  return form(message, {
    answer: { title: "Answer", ...(schemaToField(schema) ?? { type: "string", title }) },
  });
}

const form = (message: string, properties: JsonObject): QuestionForm => ({
  message: shown(message),
  schema: { type: "object", properties, required: Object.keys(properties).slice(0, 1) },
});

const shown = (message: string): string => truncated(message, maxMessageLength);

function answerSchemaOf({ answerSchema }: Question): JsonObject | undefined {
  const schema = answerSchema === undefined ? undefined : textToJson(answerSchema);
  return isJsonObject(schema) ? schema : undefined;
}

type Fields = Pick<QuestionForm["schema"], "properties" | "required">;

/** The fields of an answer that is an object of simple values; undefined for any other. */
function schemaToFields({ type, properties, required = [] }: JsonObject): Fields | undefined {
  if (type !== "object" || !isJsonObject(properties) || !Array.isArray(required)) return undefined;
  const names = required.filter((name) => typeof name === "string" && Object.hasOwn(properties, name));
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const field = schemaToField(schema);
    return field === undefined ? [] : [[name, field] as const];
  });
  const isWhole = fields.length === Object.keys(properties).length && names.length === required.length;
  return isWhole ? { properties: Object.fromEntries(fields), required: names } : undefined;
}

/**
 * Why an answer does not fit its form, in words for a person; undefined if it does. An answer with a schema of its own is checked
 * against that when it is decided, so here only for what is missing.
 */
export function answerProblem(question: Question, answer: FormAnswer): string | undefined {
  if (answer.action !== "accept") return undefined;
  const { properties, required } = firstForm(question).schema;
  const hasOwnSchema = answerSchemaOf(question) !== undefined;
  const { check } = schemaCheckOf(
    { type: "object", required, properties: hasOwnSchema ? {} : properties },
    undefined,
  );
  return problemOf(check(answer.content));
}

/**
 * The decision of a person whose answer fits its form; undefined for a form that was closed: the question stays open.
 */
export function answerToDecision(question: Question, answer: FormAnswer): Decision | undefined {
  const { about } = question;
  if (answer.action === "cancel") return undefined;
  if (answer.action === "decline")
    return about === "outcome" ? { outcome: "unknown" } : { reject: "The person declined." };
  const { content } = answer;
  switch (about) {
    case "approval":
      return content["approve"] === true ? "approve" : { reject: textOf(content["reason"], "Rejected.") };
    case "answer":
      return { answer: answerOf(answerSchemaOf(question), content) };
    case "outcome":
      return outcomeOf(content);
  }
}

/** The answer in a form. A text is taken as it is, or as JSON if only that fits its schema. */
function answerOf(schema: JsonObject | undefined, content: Readonly<Record<string, unknown>>): unknown {
  if (schema !== undefined && schemaToFields(schema) !== undefined) return { ...content };
  const { answer = "" } = content;
  if (schema === undefined) return textOf(answer, "");
  if (typeof answer !== "string") return answer;
  const value = textToJson(answer);
  if (value === undefined || schema["type"] === "string") return answer;
  const { check } = schemaCheckOf(schema, undefined);
  return problemOf(check(value)) === undefined || problemOf(check(answer)) !== undefined ? value : answer;
}

/** The problem of a value, by the check of a JSON Schema, which is never a promise. */
const problemOf = (checked: ReturnType<ReturnType<typeof schemaCheckOf>["check"]>): string | undefined =>
  "problem" in checked ? checked.problem : undefined;

function outcomeOf({ outcome, detail }: Readonly<Record<string, unknown>>): Decision {
  if (outcome === "run-again") return { outcome };
  if (outcome === "worked") return { outcome, result: textOf(detail, "") };
  return { outcome: outcome === "failed" ? outcome : "unknown", reason: textOf(detail, "") };
}

const textOf = (value: unknown, otherwise: string): string =>
  typeof value === "string" && value !== "" ? value : otherwise;
