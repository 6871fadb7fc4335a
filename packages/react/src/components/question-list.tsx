import { askedText, escapeHiddenCharacters, type Decision, type Question } from "@moora/agent";
import { useState, type JSX, type MouseEvent } from "react";
import { DecisionForm } from "./decision.tsx";
import { useQuestionGuard } from "./question-guard.ts";
import { shownJson } from "./shown-json.ts";

/** Decides a question. Resolves with why that was not accepted; undefined if it was. */
export type Decide = (question: Question, decision: Decision) => Promise<string | undefined>;

/** The properties of `QuestionList`. */
export interface QuestionListProps {
  readonly questions: readonly Question[];
  /** Without it the questions cannot be decided here. */
  readonly decide?: Decide | undefined;
  /** Whether a decision would arrive. Default: true. */
  readonly isConnected?: boolean;
}

/**
 * Open questions with the forms that decide them: approvals with exactly the arguments that are approved, outcomes, and questions with a
 * field for each property of their schema. Hidden characters are shown as escapes. For 700 ms after the questions have changed, their
 * controls take no press. Why a decision was not accepted stays on the screen when its question has gone.
 */
export function QuestionList({
  questions,
  decide,
  isConnected = true,
}: QuestionListProps): JSX.Element | null {
  const [refused, setRefused] = useState<{ readonly digest: string; readonly problem: string }>();
  const digests = questions.map(({ digest }) => digest);
  const isGuarded = useQuestionGuard(decide === undefined ? "" : digests.join(" "));
  const gone = refused !== undefined && !digests.includes(refused.digest) ? refused.problem : undefined;
  if (questions.length === 0 && gone === undefined) return null;
  const decideShown = async (question: Question, decision: Decision): Promise<void> => {
    setRefused(undefined);
    const problem = await decide?.(question, decision).catch((error: unknown) => textOf(error));
    if (problem !== undefined) setRefused({ digest: question.digest, problem });
  };
  return (
    <>
      {gone === undefined ? null : (
        <p className="moora-problem" role="alert">
          {gone}
        </p>
      )}
      {questions.length === 0 ? null : (
        <ul
          className="moora-questions"
          aria-label="Open questions"
          tabIndex={0}
          onClickCapture={holdPress(isGuarded)}
        >
          {questions.map((question) => (
            <li key={question.digest} tabIndex={-1}>
              <QuestionText question={question} />
              {decide === undefined ? null : (
                <DecisionForm
                  question={question}
                  isHeld={isGuarded || !isConnected}
                  problem={refused?.digest === question.digest ? refused.problem : undefined}
                  decide={(decision) => decideShown(question, decision)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Moves the focus to a question whose control was pressed before the question could be read, and does nothing else. */
const holdPress = (isGuarded: boolean) => (event: MouseEvent) => {
  const { target } = event;
  if (!isGuarded || !(target instanceof Element)) return;
  if (target.closest("button[aria-disabled=true]") === null) return;
  event.preventDefault();
  event.stopPropagation();
  target.closest("li")?.focus();
};

const titles: Readonly<Record<Question["about"], string>> = {
  approval: "Approve this call?",
  outcome: "What was the outcome of this interrupted call?",
  answer: "The agent asks",
};

const reasons: Readonly<Record<Question["reason"], string>> = {
  policy: "The approval policy asks about this tool.",
  risk: "The approval policy asks about calls of this risk.",
  predicate: "The predicate of the approval policy asks about this call.",
  tool: "The tool asks about each of its calls.",
  question: "The call is a question.",
  interrupted: "The call was interrupted.",
};

function QuestionText({ question }: { readonly question: Question }): JSX.Element {
  const { about, name, question: asked, path, risk, reason } = question;
  const isQuestion = about === "answer" && asked === undefined;
  const { text, rest } = isQuestion ? askedText(question) : { text: asked, rest: question.parameters };
  return (
    <>
      <h2>
        {titles[about]} <code className="moora-tool">{escapeHiddenCharacters(name)}</code>
      </h2>
      {path === undefined ? null : (
        <p className="moora-note">A sub-agent asks, below {escapeHiddenCharacters(path.join(" → "))}</p>
      )}
      {text === undefined ? null : <p className="moora-text">{escapeHiddenCharacters(text)}</p>}
      {rest === undefined ? null : (
        <pre tabIndex={0}>{typeof rest === "string" ? escapeHiddenCharacters(rest) : shownJson(rest)}</pre>
      )}
      {about === "approval" ? (
        <p className="moora-note">
          {risk === undefined ? "" : `Risk ${risk}. `}
          {reasons[reason]}
        </p>
      ) : null}
    </>
  );
}
