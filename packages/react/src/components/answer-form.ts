import { textToJson } from "../call-values.ts";

/** A field of a form. `text` is what a user typed, `json` a value as JSON text. A choice is entered as its index. */
export interface FormField {
  /** The property of the answer; "" if the field is the whole answer. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "json";
  readonly isRequired: boolean;
  readonly choices: readonly FormChoice[];
  /** What the field contains at first. */
  readonly initial: string;
}

/** One of the values of a field. */
export interface FormChoice {
  readonly title: string;
  readonly value: unknown;
}

/** The fields of an answer. `isObject`: they are the properties of an object, otherwise there is one field. */
export interface AnswerForm {
  readonly isObject: boolean;
  readonly fields: readonly FormField[];
}

/** The answer that a user entered, or the field that is wrong and why. */
export type EnteredAnswer =
  | { readonly ok: true; readonly answer: unknown }
  | { readonly ok: false; readonly field: string; readonly title: string; readonly problem: string };

/** The most properties that are shown as fields. An object with more is entered as JSON. */
const mostFields = 20;

/** The form for answers of a JSON Schema, given as JSON text. Without a schema the answer is text. */
export function answerFormOf(schemaText: string | undefined): AnswerForm {
  const schema = schemaText === undefined ? { type: "string" } : fieldsOf(textToJson(schemaText));
  const properties = Object.entries(fieldsOf(schema["properties"]));
  const isObject = schema["type"] === "object" && properties.length > 0 && properties.length <= mostFields;
  if (!isObject) return { isObject, fields: [fieldOf("", schema, true)] };
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return {
    isObject,
    fields: properties.map(([name, property]) => fieldOf(name, fieldsOf(property), required.includes(name))),
  };
}

/** What is entered in the fields of a form at first. */
export const initialEntries = ({ fields }: AnswerForm): Readonly<Record<string, string>> =>
  Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));

/** The answer that the entries of a form make. A property that is not required, and is empty, is left out. */
export function entriesToAnswer(
  { isObject, fields }: AnswerForm,
  entries: Readonly<Record<string, string>>,
): EnteredAnswer {
  const values: [string, unknown][] = [];
  for (const field of fields) {
    const { name, isRequired } = field;
    const text = entries[name] ?? "";
    if (text === "" && isObject && !isRequired) continue;
    const read = readField(field, text);
    if ("problem" in read) return { ok: false, field: name, title: field.title, problem: read.problem };
    values.push([name, read.value]);
  }
  return { ok: true, answer: isObject ? Object.fromEntries(values) : values[0]?.[1] };
}

type ReadField = { readonly value: unknown } | { readonly problem: string };

function readField({ kind, choices }: FormField, text: string): ReadField {
  switch (kind) {
    case "text":
      return { value: text };
    case "number":
      return readNumber(text) ?? { problem: "Enter a number, such as 12.5." };
    case "integer": {
      const read = readNumber(text);
      return read !== undefined && Number.isInteger(read.value)
        ? read
        : { problem: "Enter a whole number, such as 12." };
    }
    case "boolean":
      return text === "" ? { problem: "Choose yes or no." } : { value: text === "true" };
    case "choice": {
      const choice = choices[Number(text)];
      return text === "" || choice === undefined ? { problem: "Choose one." } : { value: choice.value };
    }
    case "json":
      return readJson(text);
  }
}

/** The number that a text writes in decimal digits, also as a power of ten such as "1e3"; undefined for any other text. */
function readNumber(text: string): { readonly value: number } | undefined {
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? { value } : undefined;
}

function readJson(text: string): ReadField {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

type Fields = Readonly<Record<string, unknown>>;

function fieldOf(name: string, schema: Fields, isRequired: boolean): FormField {
  const choices = choicesOf(schema);
  const kind = choices.length > 0 ? "choice" : kindOf(schema);
  return {
    name,
    title: textOr(schema["title"], name),
    description: textOr(schema["description"], ""),
    kind,
    isRequired,
    choices,
    initial: initialOf(kind, choices, schema["default"]),
  };
}

function kindOf({ type }: Fields): FormField["kind"] {
  if (type === "string") return "text";
  if (type === "number" || type === "integer" || type === "boolean") return type;
  return "json";
}

/** The values that a schema lists; empty if it lists none. */
function choicesOf({ enum: listed, oneOf, anyOf, ...schema }: Fields): readonly FormChoice[] {
  if (Array.isArray(listed)) return listed.map((value) => ({ title: titleOf(value), value }));
  if ("const" in schema) return [{ title: titleOf(schema["const"]), value: schema["const"] }];
  const variants: unknown = oneOf ?? anyOf;
  if (!Array.isArray(variants)) return [];
  const choices = variants.map((variant) => fieldsOf(variant));
  if (!choices.every((choice) => "const" in choice)) return [];
  return choices.map(({ const: value, title }) => ({ title: textOr(title, titleOf(value)), value }));
}

function initialOf(kind: FormField["kind"], choices: readonly FormChoice[], value: unknown): string {
  if (kind === "choice") {
    const index = choices.findIndex((choice) => JSON.stringify(choice.value) === JSON.stringify(value));
    return index < 0 ? "" : String(index);
  }
  if (value === undefined) return "";
  return kind === "text" && typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

const titleOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === "string" && value !== "" ? value : otherwise;

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? { ...value } : {};
