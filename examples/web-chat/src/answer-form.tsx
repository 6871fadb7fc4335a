import { useAgentValue } from "@moora/react";
import type { JSX } from "react";
import { answerSchemaAt, formToAnswer, type FieldSchema } from "./answer-schema.ts";
import type { KindProps } from "./questions.tsx";

/** The fields of the schema of an answer, or one text. */
export function AnswerForm({ question, isBusy, give }: KindProps): JSX.Element {
  const text = useAgentValue((view) => answerSchemaAt(view, question));
  const schema: FieldSchema = text === undefined ? {} : JSON.parse(text);
  const { properties, required = [] } = schema;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        give({ answer: formToAnswer(new FormData(event.currentTarget), schema) ?? "" });
      }}
    >
      {properties === undefined ? (
        <Field name="answer" title="Answer" schema={schema} isRequired />
      ) : (
        Object.entries(properties).map(([name, field]) => (
          <Field
            key={name}
            name={name}
            title={field.title ?? name}
            schema={field}
            isRequired={required.includes(name)}
          />
        ))
      )}
      <div className="buttons">
        <button type="submit" className="primary" aria-disabled={isBusy}>
          Answer
        </button>
        <button
          type="button"
          aria-disabled={isBusy}
          onClick={() => give({ reject: "The user did not answer." })}
        >
          Do not answer
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly name: string;
  readonly title: string;
  readonly schema: FieldSchema;
  readonly isRequired: boolean;
}

function Field({ name, title, schema, isRequired }: FieldProps): JSX.Element {
  const { type, description } = schema;
  return (
    <label className={type === "boolean" ? "check" : ""}>
      {title}
      <Control name={name} title={title} schema={schema} isRequired={isRequired} />
      {description !== undefined && <small>{description}</small>}
    </label>
  );
}

function Control({ name, schema: { type, enum: choices, items }, isRequired }: FieldProps): JSX.Element {
  const isList = type === "array" && items?.enum !== undefined;
  const options = isList ? items.enum : choices;
  if (options !== undefined) {
    return (
      <select name={name} multiple={isList} required={isRequired && !isList}>
        {!isList && !isRequired && <option value="">–</option>}
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    );
  }
  if (type === "boolean") return <input type="checkbox" name={name} />;
  if (type === "number" || type === "integer")
    return <input type="number" name={name} step={type === "integer" ? 1 : "any"} required={isRequired} />;
  return <input type="text" name={name} required={isRequired} autoComplete="off" />;
}
