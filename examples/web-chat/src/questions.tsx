import type { Decision, Question } from "@moora/agent";
import { useAgent } from "@moora/react";
import { useState, type JSX } from "react";
import type { shopper } from "../agent.ts";

/** The open questions. The first answer counts, in any window. */
export function Questions(): JSX.Element {
  const { questions } = useAgent<typeof shopper>();
  return (
    <div className="questions" aria-live="assertive">
      {questions.map((question) => (
        <Approval key={question.digest} question={question} />
      ))}
    </div>
  );
}

function Approval({ question }: { readonly question: Question }): JSX.Element {
  const { decide } = useAgent<typeof shopper>();
  const [isDecided, setDecided] = useState(false);
  const [problem, setProblem] = useState("");
  const { name, parameters, path } = question;
  const give = async (decision: Decision): Promise<void> => {
    setDecided(true);
    try {
      await decide(question, decision);
    } catch (error) {
      setDecided(false);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <section className="question" aria-label={`Approval of ${name}`}>
      <p>
        The agent wants to run <strong>{name}</strong> <code>{JSON.stringify(parameters)}</code>
        {path === undefined ? "" : " (a sub-agent)"}
      </p>
      <div className="buttons">
        <button type="button" className="primary" disabled={isDecided} onClick={() => void give("approve")}>
          Approve
        </button>
        <button type="button" disabled={isDecided} onClick={() => void give({ reject: "The user said no." })}>
          Reject
        </button>
      </div>
      {problem !== "" && <p role="alert">{problem}</p>}
    </section>
  );
}
