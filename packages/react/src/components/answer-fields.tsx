import type { JSX } from "react";
import type { AnswerForm, FormField } from "./answer-form.ts";

/** What is entered, by the name of the field. */
export type Entries = Readonly<Record<string, string>>;

interface AnswerFieldsProps {
  readonly form: AnswerForm;
  readonly entries: Entries;
  /** The field that is wrong. */
  readonly wrong: string | undefined;
  readonly onChange: (entries: Entries) => void;
}

/** The fields of an answer, one for each property. */
export const AnswerFields = ({ form, entries, wrong, onChange }: AnswerFieldsProps): JSX.Element => (
  <div className="moora-fields">
    {form.fields.map((field) => (
      <label key={field.name}>
        {field.name === "" ? null : (
          <span className="moora-label">
            {field.title}
            {field.isRequired ? null : <small> optional</small>}
          </span>
        )}
        {field.description === "" ? null : <small>{field.description}</small>}
        <Control
          field={field}
          value={entries[field.name] ?? ""}
          isWrong={wrong === field.name}
          onInput={(value) => onChange({ ...entries, [field.name]: value })}
        />
      </label>
    ))}
  </div>
);

interface ControlProps {
  readonly field: FormField;
  readonly value: string;
  readonly isWrong: boolean;
  readonly onInput: (value: string) => void;
}

function Control({ field, value, isWrong, onInput }: ControlProps): JSX.Element {
  const { kind, name, isRequired, choices } = field;
  const given = {
    value,
    "aria-invalid": isWrong,
    ...(name === "" ? { "aria-label": wholeLabels[kind] } : {}),
  };
  switch (kind) {
    case "text":
      return <input type="text" {...given} onChange={(event) => onInput(event.currentTarget.value)} />;
    case "number":
    case "integer":
      return (
        <input
          type="text"
          inputMode="decimal"
          {...given}
          onChange={(event) => onInput(event.currentTarget.value)}
        />
      );
    case "boolean":
    case "choice": {
      const options =
        kind === "boolean" ? booleans : choices.map(({ title }, index) => [String(index), title]);
      return (
        <select {...given} onChange={(event) => onInput(event.currentTarget.value)}>
          <option value="">{isRequired ? "Choose…" : "(none)"}</option>
          {options.map(([key, title]) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
      );
    }
    case "json":
      return (
        <textarea
          rows={3}
          spellCheck={false}
          {...given}
          onChange={(event) => onInput(event.currentTarget.value)}
        />
      );
  }
}

const booleans = [
  ["true", "Yes"],
  ["false", "No"],
] as const;

const wholeLabels: Readonly<Record<FormField["kind"], string>> = {
  text: "Answer",
  number: "Answer, a number",
  integer: "Answer, a whole number",
  boolean: "Answer, yes or no",
  choice: "Answer, one of these",
  json: "Answer as JSON",
};
