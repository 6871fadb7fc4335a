/** @jsxImportSource preact */
import { escapeHiddenCharacters, type Decision as DecisionValue, type Question } from "@moora/agent";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { answerFormOf, entriesToAnswer, initialEntries } from "../session/answer-form.ts";
import { answerProblem } from "./answer-problem.ts";
import { AnswerFields, type Entries } from "./answer-fields.tsx";
import { isConnected, liveId, post } from "./live-source.ts";
import { questionGuard } from "./press-guard.ts";
import type { SubAgentQuestion } from "@moora/agent-webui-protocol";
import { messageOf } from "./store.ts";

type AnyQuestion = Question | SubAgentQuestion;

interface QuestionProps {
  readonly question: AnyQuestion;
}

/** The forms that decide a question. */
export function Decision({ question }: QuestionProps): JSX.Element {
  switch (question.about) {
    case "approval":
      return <Approval question={question} />;
    case "answer":
      return <Answer question={question} />;
    case "outcome":
      return <Outcome question={question} />;
  }
}

interface Deciding {
  /** Whether it takes no decision now. Its buttons are not disabled meanwhile, which would take the focus from them. */
  readonly isHeld: boolean;
  readonly problem: string | undefined;
  /** Posts a decision. */
  readonly decide: (decision: DecisionValue) => void;
  readonly refuse: (problem: string) => void;
}

function useDecision(question: AnyQuestion): Deciding {
  const [isPosting, setPosting] = useState(false);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  // That of the session on the screen, whatever is opened meanwhile.
  const [session] = useState(liveId.value);
  const isHeld = isPosting || questionGuard.isUp.value || !isConnected.value;
  const decide = async (decision: DecisionValue): Promise<void> => {
    setPosting(true);
    setProblem(await postDecision(session, question, decision));
    setPosting(false);
  };
  return {
    isHeld,
    problem,
    refuse: setProblem,
    decide(decision) {
      if (isHeld) return;
      decide(decision).catch((error: unknown) => {
        setProblem(messageOf(error));
        setPosting(false);
      });
    },
  };
}

const postDecision = async (
  session: string | undefined,
  { toolCallId, digest, path }: AnyQuestion,
  decision: DecisionValue,
): Promise<string | undefined> =>
  await post("decisions", { toolCallId, digest, ...(path === undefined ? {} : { path }), decision }, session);

interface ChoicesProps {
  /** Why the last decision was not accepted. */
  readonly problem: string | undefined;
  readonly children: ComponentChildren;
}

/** The controls that decide. Those of the first question stay in view while it is scrolled. */
const Choices = ({ problem, children }: ChoicesProps): JSX.Element => (
  <div class="choices">
    {problem === undefined ? null : (
      <p class="form-problem" role="alert">
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
    onInput={(event) => setText(event.currentTarget.value)}
  />
);

function Approval({ question }: QuestionProps): JSX.Element {
  const [reason, setReason] = useState("");
  const { decide, refuse, isHeld, problem } = useDecision(question);
  const [changed, setChanged] = useState<string | undefined>(undefined);
  const approveChanged = (text: string): void => {
    const read = entriesToAnswer(jsonForm, { "": text });
    if (read.ok) decide({ approve: read.answer });
    else refuse(read.problem);
  };
  return (
    <form class="decision" onSubmit={(event) => event.preventDefault()}>
      {changed === undefined ? null : (
        <textarea
          class="wide"
          rows={4}
          value={changed}
          aria-label="Arguments as JSON"
          onInput={(event) => setChanged(event.currentTarget.value)}
        />
      )}
      <Choices problem={problem}>
        <button
          type="button"
          class="primary"
          aria-disabled={isHeld}
          onClick={() => (changed === undefined ? decide("approve") : approveChanged(changed))}
        >
          {changed === undefined ? "Approve" : "Approve with these arguments"}
        </button>
        <button
          type="button"
          aria-pressed={changed !== undefined}
          onClick={() => setChanged(changed === undefined ? editableJson(question.parameters) : undefined)}
        >
          Edit
        </button>
        <TextInput label="Reason, if you reject" text={reason} setText={setReason} />
        <button type="button" aria-disabled={isHeld} onClick={() => decide({ reject: reason })}>
          Reject
        </button>
      </Choices>
    </form>
  );
}

/** JSON of a value in a field, where hidden characters would not be seen either. */
const editableJson = (value: unknown): string => escapeHiddenCharacters(JSON.stringify(value, null, 2));

const jsonForm = answerFormOf("{}");

function Answer({ question }: QuestionProps): JSX.Element {
  const { answerSchema: schema } = question;
  const form = answerFormOf(schema);
  const [isJson, setJson] = useState(false);
  const shown = isJson ? jsonForm : form;
  const [entries, setEntries] = useState<Entries>(initialEntries(form));
  const [wrong, setWrong] = useState<string | undefined>(undefined);
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [wrong]);
  const { decide, refuse, isHeld, problem } = useDecision(question);
  const send = (): void => {
    const read = entriesToAnswer(shown, entries);
    setWrong(read.ok ? undefined : read.field);
    if (!read.ok) return refuse(read.field === "" ? read.problem : `${read.title}: ${read.problem}`);
    const found = answerProblem(schema, read.answer);
    if (found === undefined) decide({ answer: read.answer });
    else refuse(found);
  };
  return (
    <form
      ref={element}
      class="decision"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <AnswerFields form={shown} entries={entries} wrong={wrong} onChange={setEntries} />
      <Choices problem={problem}>
        <button type="submit" class="primary" aria-disabled={isHeld}>
          Answer
        </button>
        <button type="button" aria-disabled={isHeld} onClick={() => decide({ reject: "" })}>
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

function Outcome({ question }: QuestionProps): JSX.Element {
  const [text, setText] = useState("");
  const { decide, isHeld, problem } = useDecision(question);
  const choices: readonly (readonly [title: string, decision: DecisionValue])[] = [
    ["Run again", { outcome: "run-again" }],
    ["It worked", { outcome: "worked", result: text }],
    ["It failed", { outcome: "failed", reason: text }],
    ["Unknown", { outcome: "unknown", reason: text }],
  ];
  return (
    <form class="decision" onSubmit={(event) => event.preventDefault()}>
      <Choices problem={problem}>
        <TextInput label="Its result, or why it failed" text={text} setText={setText} />
        {choices.map(([title, decision]) => (
          <button key={title} type="button" aria-disabled={isHeld} onClick={() => decide(decision)}>
            {title}
          </button>
        ))}
      </Choices>
    </form>
  );
}
