import { askedText, escapeHiddenCharacters, type Decision, type Question } from "@moora/agent";
import { useAgent } from "@moora/react";
import { useLayoutEffect, useRef, useState, type JSX, type RefObject } from "react";
import type { shopper } from "../agent.ts";
import { AnswerForm } from "./answer-form.tsx";
import { usePost } from "./use-post.ts";

/** The open questions. The first answer counts, in any window. */
export function Questions(): JSX.Element {
  const { questions } = useAgent<typeof shopper>();
  return (
    <div className="questions" aria-live="assertive">
      {questions.map((question) => (
        <QuestionView key={question.digest} question={question} />
      ))}
    </div>
  );
}

export interface KindProps {
  readonly question: Question;
  /** Whether a decision is being sent. Buttons are not disabled meanwhile, which would take the focus from them. */
  readonly isBusy: boolean;
  readonly give: (decision: Decision) => void;
}

const titles: Readonly<Record<Question["about"], string>> = {
  approval: "Approval of",
  answer: "Question of",
  outcome: "Outcome of",
};

/** Each kind of question takes decisions of its own. */
const kinds: Readonly<Record<Question["about"], (props: KindProps) => JSX.Element>> = {
  approval: Approval,
  answer: Answer,
  outcome: Outcome,
};

function QuestionView({ question }: { readonly question: Question }): JSX.Element {
  const { decide } = useAgent<typeof shopper>();
  const [isBusy, setBusy] = useState(false);
  const [ignored, setIgnored] = useState("");
  const [refused, post] = usePost();
  const problem = ignored === "" ? refused : ignored;
  const section = useFocusAfter();
  const give = async (decision: Decision): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setIgnored("");
    const receipt = await post(() => decide(question, decision));
    if (receipt?.status === "ignored") setIgnored(`Not accepted: ${receipt.reason}.`);
    setBusy(false);
  };
  const Kind = kinds[question.about];
  return (
    <section ref={section} className="question" aria-label={`${titles[question.about]} ${question.name}`}>
      <Kind question={question} isBusy={isBusy} give={(decision) => void give(decision)} />
      {question.path !== undefined && <small>Asked by a sub-agent</small>}
      {problem !== "" && <p role="alert">{problem}</p>}
    </section>
  );
}

/** Moves the focus to the message when its element is removed, which would lose it: a question was decided, here or in another window. */
function useFocusAfter(): RefObject<HTMLElement | null> {
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const shown = element.current;
    return () => {
      if (shown?.contains(document.activeElement) === true) document.getElementById("message")?.focus();
    };
  }, []);
  return element;
}

/** A call as it is approved: characters that are not seen, or that reverse a text, are shown as escapes. */
const Call = ({ name, parameters }: Question): JSX.Element => (
  <>
    <strong>{name}</strong> <code>{escapeHiddenCharacters(JSON.stringify(parameters))}</code>
  </>
);

function Approval({ question, isBusy, give }: KindProps): JSX.Element {
  return (
    <>
      <p>
        The agent wants to run <Call {...question} />
      </p>
      <div className="buttons">
        <button type="button" className="primary" aria-disabled={isBusy} onClick={() => give("approve")}>
          Approve
        </button>
        <button type="button" aria-disabled={isBusy} onClick={() => give({ reject: "The user said no." })}>
          Reject
        </button>
      </div>
    </>
  );
}

/** A question of the model, or of a tool in the middle of its call. */
function Answer({ question, isBusy, give }: KindProps): JSX.Element {
  return (
    <>
      <p>{escapeHiddenCharacters(askedText(question).text)}</p>
      <AnswerForm question={question} isBusy={isBusy} give={give} />
    </>
  );
}

/** A process ended in the middle of a call that must not run twice. */
function Outcome({ question, isBusy, give }: KindProps): JSX.Element {
  const choices: Readonly<Record<string, Decision>> = {
    "It worked": { outcome: "worked", result: "It worked." },
    "It failed": { outcome: "failed" },
    "Run again": { outcome: "run-again" },
    "I do not know": { outcome: "unknown" },
  };
  return (
    <>
      <p>
        The server stopped in the middle of <Call {...question} />. What was the outcome?
      </p>
      <div className="buttons">
        {Object.entries(choices).map(([title, decision]) => (
          <button key={title} type="button" aria-disabled={isBusy} onClick={() => give(decision)}>
            {title}
          </button>
        ))}
      </div>
    </>
  );
}
