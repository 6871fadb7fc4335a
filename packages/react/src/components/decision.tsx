import type { Decision, Question } from "@moora/agent";
import { useEffect, useMemo, useRef, useState, type JSX, type ReactNode } from "react";
import { AnswerFields, type Entries } from "./answer-fields.tsx";
import { answerFormOf, entriesToAnswer, initialEntries } from "./answer-form.ts";
import { shownJson } from "./shown-json.ts";

interface DecisionProps {
  readonly question: Question;
  /** Whether it takes no decision now. Its buttons are not disabled meanwhile, which would take the focus from them. */
  readonly isHeld: boolean;
  /** Why the last decision was not accepted. */
  readonly problem: string | undefined;
  readonly decide: (decision: Decision) => Promise<void>;
}

const forms: { readonly [About in Question["about"]]: (props: DecisionProps) => JSX.Element } = {
  approval: Approval,
  answer: Answer,
  outcome: Outcome,
};

/** The form that decides a question. While a decision is on its way, it takes no other one. */
export function DecisionForm({ isHeld, decide, ...props }: DecisionProps): JSX.Element {
  const [isPosting, setPosting] = useState(false);
  const Form = forms[props.question.about];
  const decideOnce = async (decision: Decision): Promise<void> => {
    if (isHeld || isPosting) return;
    setPosting(true);
    await decide(decision);
    setPosting(false);
  };
  return <Form {...props} isHeld={isHeld || isPosting} decide={decideOnce} />;
}

interface ChoicesProps {
  readonly problem: string | undefined;
  readonly children: ReactNode;
}

/** The controls that decide. Those of the first question stay in view while it is scrolled. */
const Choices = ({ problem, children }: ChoicesProps): JSX.Element => (
  <div className="moora-choices">
    {problem === undefined ? null : (
      <p className="moora-problem" role="alert">
        {problem}
      </p>
    )}
    {children}
  </div>
);

interface TextProps {
  readonly label: string;
  readonly text: string;
  readonly setText: (text: string) => void;
}

const TextInput = ({ label, text, setText }: TextProps): JSX.Element => (
  <input
    type="text"
    value={text}
    aria-label={label}
    placeholder={label}
    onChange={(event) => setText(event.currentTarget.value)}
  />
);

function Approval({ question, decide, isHeld, problem }: DecisionProps): JSX.Element {
  const [reason, setReason] = useState("");
  const [changed, setChanged] = useState<string>();
  const [wrong, setWrong] = useState<string>();
  const approveChanged = (text: string): void => {
    const read = entriesToAnswer(jsonForm, { "": text });
    setWrong(read.ok ? undefined : read.problem);
    if (read.ok) void decide({ approve: read.answer });
  };
  return (
    <form className="moora-decision" onSubmit={(event) => event.preventDefault()}>
      {changed === undefined ? null : (
        <textarea
          className="moora-edited"
          rows={4}
          value={changed}
          aria-label="Arguments as JSON"
          onChange={(event) => setChanged(event.currentTarget.value)}
        />
      )}
      <Choices problem={wrong ?? problem}>
        <button
          type="button"
          className="moora-primary"
          aria-disabled={isHeld}
          onClick={() => (changed === undefined ? void decide("approve") : approveChanged(changed))}
        >
          {changed === undefined ? "Approve" : "Approve with these arguments"}
        </button>
        <button
          type="button"
          aria-pressed={changed !== undefined}
          onClick={() => setChanged(changed === undefined ? shownJson(question.parameters) : undefined)}
        >
          Edit
        </button>
        <TextInput label="Reason, if you reject" text={reason} setText={setReason} />
        <button type="button" aria-disabled={isHeld} onClick={() => void decide({ reject: reason })}>
          Reject
        </button>
      </Choices>
    </form>
  );
}

const jsonForm = answerFormOf("{}");

function Answer({ question, decide, isHeld, problem }: DecisionProps): JSX.Element {
  const { answerSchema: schema } = question;
  const form = useMemo(() => answerFormOf(schema), [schema]);
  const [isJson, setJson] = useState(false);
  const shown = isJson ? jsonForm : form;
  const [entries, setEntries] = useState<Entries>(() => initialEntries(form));
  const [wrong, setWrong] = useState<{ readonly field: string; readonly text: string }>();
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [wrong]);
  const send = (): void => {
    const read = entriesToAnswer(shown, entries);
    if (read.ok) {
      setWrong(undefined);
      void decide({ answer: read.answer });
    } else {
      const { field, title, problem: text } = read;
      setWrong({ field, text: field === "" ? text : `${title}: ${text}` });
    }
  };
  return (
    <form
      ref={element}
      className="moora-decision"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <AnswerFields form={shown} entries={entries} wrong={wrong?.field} onChange={setEntries} />
      <Choices problem={wrong?.text ?? problem}>
        <button type="submit" className="moora-primary" aria-disabled={isHeld}>
          Answer
        </button>
        <button type="button" aria-disabled={isHeld} onClick={() => void decide({ reject: "" })}>
          Do not answer
        </button>
        {question.path === undefined || schema !== undefined ? null : (
          <button type="button" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
            As JSON
          </button>
        )}
      </Choices>
    </form>
  );
}

function Outcome({ decide, isHeld, problem }: DecisionProps): JSX.Element {
  const [text, setText] = useState("");
  const choices: readonly (readonly [title: string, decision: Decision])[] = [
    ["Run again", { outcome: "run-again" }],
    ["It worked", { outcome: "worked", result: text }],
    ["It failed", { outcome: "failed", reason: text }],
    ["Unknown", { outcome: "unknown", reason: text }],
  ];
  return (
    <form className="moora-decision" onSubmit={(event) => event.preventDefault()}>
      <Choices problem={problem}>
        <TextInput label="Its result, or why it failed" text={text} setText={setText} />
        {choices.map(([title, decision]) => (
          <button key={title} type="button" aria-disabled={isHeld} onClick={() => void decide(decision)}>
            {title}
          </button>
        ))}
      </Choices>
    </form>
  );
}
