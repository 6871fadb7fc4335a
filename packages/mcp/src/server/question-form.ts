import type { Decision, Question } from "@moora/agent";
import { truncated } from "@moora/agent-core-effects/internal";
import type { JsonObject } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";

/** A question as a form: its text, and the schema of the answer. Only fields of simple types are allowed in it. */
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

/** The form for a question. */
export function questionToForm(question: Question): QuestionForm {
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

/** The form of a question of the model or of a tool: the schema of its answer if that is a form already, else one text. */
function answerForm(question: Question): QuestionForm {
  const { parameters } = question;
  const asked = question.question ?? (isJsonObject(parameters) ? parameters["question"] : undefined);
  const message = typeof asked === "string" ? asked : JSON.stringify(parameters);
  const schema = answerSchemaOf(question);
  const properties = schema?.["properties"];
  if (isJsonObject(properties) && isFlat(schema)) {
    const required = schema?.["required"];
    const names = Array.isArray(required) ? required.filter((field) => typeof field === "string") : [];
    return { message: shown(message), schema: { type: "object", properties, required: names } };
  }
  return form(message, {
    answer: { type: "string", title: schema === undefined ? "Answer" : "Answer, as JSON" },
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

const simpleTypes: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean"]);

const isFlat = (schema: JsonObject | undefined): boolean =>
  schema?.["type"] === "object" &&
  isJsonObject(schema["properties"]) &&
  Object.values(schema["properties"]).every((field) => isJsonObject(field) && simpleTypes.has(field["type"]));

/** The decision of a person who has answered a form; undefined for a form that was closed: the question stays open. */
export function answerToDecision(question: Question, answer: FormAnswer): Decision | undefined {
  const { about } = question;
  if (answer.action === "cancel") return undefined;
  if (answer.action === "decline")
    return about === "outcome" ? { outcome: "unknown" } : { reject: "The person declined." };
  const { content } = answer;
  switch (about) {
    case "approval":
      return content["approve"] === true ? "approve" : { reject: textOf(content["reason"], "Rejected.") };
    case "answer": {
      const schema = answerSchemaOf(question);
      if (schema === undefined) return { answer: textOf(content["answer"], "") };
      if (isFlat(schema)) return { answer: { ...content } };
      const text = textOf(content["answer"], "");
      return { answer: textToJson(text) ?? text };
    }
    case "outcome":
      return outcomeOf(content);
  }
}

function outcomeOf({ outcome, detail }: Readonly<Record<string, unknown>>): Decision {
  if (outcome === "run-again") return { outcome };
  if (outcome === "worked") return { outcome, result: textOf(detail, "") };
  return { outcome: outcome === "failed" ? outcome : "unknown", reason: textOf(detail, "") };
}

const textOf = (value: unknown, otherwise: string): string =>
  typeof value === "string" && value !== "" ? value : otherwise;
