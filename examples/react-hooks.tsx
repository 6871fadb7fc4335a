/** A chat on the hooks of `@moora/react`, with approvals, questions and files. */
import { askedText, escapeHiddenCharacters, type Decision, type Question, type Receipt } from "@moora/agent";
import { AgentProvider, useAgent, useMessage, type AnyChatSession, type ChatSession } from "@moora/react";
import { memo, useState, type JSX } from "react";

interface MessageProps {
  readonly id: string;
  readonly session: AnyChatSession;
}

const Message = memo(function Message({ id, session }: MessageProps): JSX.Element {
  const message = useMessage(id, session);
  return (
    <li data-role={message?.role}>
      {message?.parts.map((part, index) =>
        part.type === "tool-call" ? (
          <code key={index}>
            {part.name} {part.status}
          </code>
        ) : part.type === "file" ? (
          <a key={index} href={session.fileUrl?.(part.file) ?? part.file.url} download={part.file.name ?? ""}>
            {part.file.mediaType}
          </a>
        ) : (
          <span key={index}>{part.text}</span>
        ),
      )}
    </li>
  );
});

/** The decisions that each kind of question takes. */
const choices: Readonly<Record<Question["about"], Readonly<Record<string, Decision>>>> = {
  approval: { Approve: "approve", Reject: { reject: "The user said no." } },
  answer: { "Do not answer": { reject: "The user did not answer." } },
  outcome: { "Run again": { outcome: "run-again" }, "It failed": { outcome: "failed" } },
};

/** Posts, and keeps why a post was refused: an error that a form action throws would remove the page. */
function usePost(): readonly [problem: string, post: (begin: () => Promise<Receipt>) => Promise<boolean>] {
  const [problem, setProblem] = useState("");
  const post = async (begin: () => Promise<Receipt>): Promise<boolean> => {
    try {
      const receipt = await begin();
      setProblem(receipt.status === "ignored" ? `Not accepted: ${receipt.reason}` : "");
      return receipt.status !== "ignored";
    } catch (error) {
      setProblem(String(error));
      return false;
    }
  };
  return [problem, post];
}

interface QuestionProps {
  readonly question: Question;
  /** That of the page: the receipt of an answer that came too late outlives its question. */
  readonly post: ReturnType<typeof usePost>[1];
}

function QuestionView({ question, post }: QuestionProps): JSX.Element {
  const { decide } = useAgent();
  const give = async (decision: Decision): Promise<void> =>
    void (await post(() => decide(question, decision)));
  const { about, name, parameters } = question;
  return (
    <form action={(form) => give({ answer: form.get("answer") })}>
      {about === "answer" ? (
        <label>
          {escapeHiddenCharacters(askedText(question).text)} <input name="answer" />
          <button>Answer</button>
        </label>
      ) : (
        <code>
          {about} of {name}: {escapeHiddenCharacters(JSON.stringify(parameters))}
        </code>
      )}
      {Object.entries(choices[about]).map(([title, decision]) => (
        <button key={title} type="button" onClick={() => void give(decision)}>
          {title}
        </button>
      ))}
    </form>
  );
}

function Composer(): JSX.Element {
  const { status, send, cancel } = useAgent();
  const [problem, post] = usePost();
  const [refused, setRefused] = useState("");
  const submit = async (form: FormData): Promise<void> => {
    const field = form.get("message");
    const text = typeof field === "string" ? field : "";
    setRefused((await post(() => send(text))) ? "" : text);
  };
  return (
    <form action={submit}>
      <input name="message" aria-label="Message" defaultValue={refused} />
      <button>Send</button>
      {status === "running" && (
        <button type="button" onClick={() => void post(() => cancel())}>
          Stop
        </button>
      )}
      {problem !== "" && <p role="alert">{problem}</p>}
    </form>
  );
}

function Chat(): JSX.Element {
  const { session, messages, questions, status, connection } = useAgent();
  const [problem, post] = usePost();
  return (
    <main>
      {problem !== "" && <p role="alert">{problem}</p>}
      {questions.map((question) => (
        <QuestionView key={question.digest} question={question} post={post} />
      ))}
      <ul>
        {messages.map(({ id }) => (
          <Message key={id} id={id} session={session} />
        ))}
        {connection?.pending.map(({ key, content }) => content && <li key={key}>{content} (being sent)</li>)}
      </ul>
      <p>{status}</p>
      <Composer />
    </main>
  );
}

/** `session` is one of `connectSession`, or of `startSession` or `openSession` in this process. */
export const App = <Data,>({ session }: { readonly session: ChatSession<Data> }): JSX.Element => (
  <AgentProvider session={session}>
    <Chat />
  </AgentProvider>
);
