import type { Receipt } from "@moora/agent";
import { isLoopRunning } from "@moora/agent-core-state-machine";
import { memo, useState, type JSX } from "react";
import type { AnyChatSession, Chat, ChatSession } from "../chat.ts";
import { AgentProvider, useAgent, useAgentValue, useMessage } from "../hooks.ts";
import { MessageForm } from "./message-form.tsx";
import { MessageView } from "./message-view.tsx";
import { PauseText } from "./pause-text.tsx";
import { QuestionList } from "./question-list.tsx";

/** The properties of `AgentChat`. */
export interface AgentChatProps<Data = unknown> {
  readonly session: ChatSession<Data>;
  /** First questions, which an empty chat has as buttons. */
  readonly suggestions?: readonly string[];
  readonly placeholder?: string;
}

/**
 * A chat with an agent: its messages as they are written, its tool calls, its questions with their forms, what has failed, the connection,
 * and the field for the next message. `@moora/react/components.css` is its style; every part has a class of its own.
 */
export const AgentChat = <Data,>({
  session,
  suggestions,
  placeholder,
}: AgentChatProps<Data>): JSX.Element => (
  <AgentProvider session={session}>
    <section className="moora-chat" aria-label="Chat">
      <Connection />
      <Messages {...(suggestions === undefined ? {} : { suggestions })} />
      <Questions />
      <Composer {...(placeholder === undefined ? {} : { placeholder })} />
      <Announcer />
    </section>
  </AgentProvider>
);

/** Why a post was not accepted; undefined if it was. */
async function problemOf(receipt: Promise<Receipt>): Promise<string | undefined> {
  try {
    const answer = await receipt;
    if (answer.status === "accepted") return undefined;
    const { reason, decidedBy } = answer;
    return decidedBy === undefined
      ? `Not accepted: ${reason}.`
      : `${decidedBy} has decided this already (${reason}).`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What is wrong with the connection to the server; nothing while it is connected, and for a session of this process. */
function Connection(): JSX.Element | null {
  const { connection } = useAgent();
  if (connection === undefined || connection.status === "connected") return null;
  return (
    <p className="moora-connection" role="status">
      {connectionTexts[connection.status]}
    </p>
  );
}

const connectionTexts = {
  connecting: "Connecting…",
  waiting: "The server cannot be reached. What you send waits until it can.",
  closed: "This chat is closed. Load the page again to continue it.",
} as const;

/** How many messages are shown at first, and with each press of the button for earlier ones. */
const messagesShown = 100;

/** The properties of `Messages`. */
export type MessagesProps = Pick<AgentChatProps, "suggestions">;

/** The newest messages of the session of `AgentProvider`, those on their way to the server, and why the newest loop has failed. */
export function Messages({ suggestions = [] }: MessagesProps): JSX.Element {
  const { session, messages, failure, connection, retry, send } = useAgent();
  const [most, setMost] = useState(messagesShown);
  const [problem, setProblem] = useState<string>();
  const post = (receipt: Promise<Receipt>): void => void problemOf(receipt).then(setProblem);
  const earlier = messages.length - most;
  const pending = (connection?.pending ?? []).filter(({ content }) => content !== undefined);
  return (
    <div className="moora-messages" role="log" aria-live="off" aria-label="Messages" tabIndex={0}>
      <div>
        {earlier <= 0 ? null : (
          <button type="button" onClick={() => setMost(most + messagesShown)}>
            Show earlier messages ({earlier} more)
          </button>
        )}
        {messages.length + pending.length > 0 ? null : (
          <Suggestions suggestions={suggestions} choose={(text) => post(send(text))} />
        )}
        {messages.slice(-most).map(({ id }) => (
          <Message key={id} id={id} session={session} />
        ))}
        {pending.map(({ key, content }) => (
          <article key={key} className="moora-message moora-user moora-pending">
            <p className="moora-text">{content}</p>
            <p className="moora-note">Sending…</p>
          </article>
        ))}
        {failure === undefined ? null : (
          <div className="moora-problem" role="alert">
            <p>
              {failure.kind}: {failure.message}
            </p>
            <button type="button" onClick={() => post(retry())}>
              Try again
            </button>
          </div>
        )}
        {problem === undefined ? null : (
          <p className="moora-problem" role="alert">
            {problem}
          </p>
        )}
      </div>
    </div>
  );
}

/** The properties of `Suggestions`. */
export interface SuggestionsProps {
  readonly suggestions: readonly string[];
  readonly choose: (text: string) => void;
}

/** First questions as buttons. */
export const Suggestions = ({ suggestions, choose }: SuggestionsProps): JSX.Element | null =>
  suggestions.length === 0 ? null : (
    <ul className="moora-suggestions" aria-label="First questions">
      {suggestions.map((text) => (
        <li key={text}>
          <button type="button" onClick={() => choose(text)}>
            {text}
          </button>
        </li>
      ))}
    </ul>
  );

interface MessageProps {
  readonly id: string;
  readonly session: AnyChatSession;
}

/** A message with what is streamed of it: a token renders only this. */
const Message = memo(function Message({ id, session }: MessageProps): JSX.Element | null {
  const message = useMessage(id, session);
  if (message === undefined) return null;
  return <MessageView message={message} fileUrl={(file) => session.fileUrl?.(file) ?? file.url} />;
});

/** The open questions of the session of `AgentProvider`, with those of sub-agents. */
export function Questions(): JSX.Element {
  const { questions, decide } = useAgent();
  return (
    <QuestionList questions={questions} decide={(asked, decision) => problemOf(decide(asked, decision))} />
  );
}

/** The field for the next message, with the button that stops a loop, and why the session is paused with what ends that. */
export function Composer({ placeholder }: Pick<AgentChatProps, "placeholder">): JSX.Element {
  const { status, send, cancel, resume } = useAgent();
  const reason = useAgentValue(({ paused }) => paused?.reason);
  const hasLoop = useAgentValue(isLoopRunning);
  const [problem, setProblem] = useState<string>();
  const post = (receipt: Promise<Receipt>): void => void problemOf(receipt).then(setProblem);
  return (
    <MessageForm
      send={(text) => problemOf(send(text))}
      {...(placeholder === undefined ? {} : { placeholder })}
    >
      {status === "running" || status === "waiting" ? (
        <button type="button" onClick={() => post(cancel())}>
          Stop
        </button>
      ) : null}
      {status === "paused" ? (
        <div className="moora-paused">
          <PauseText reason={reason} />
          <button type="button" onClick={() => post(resume())}>
            Resume
          </button>
          {hasLoop ? (
            <button type="button" onClick={() => post(cancel())}>
              Cancel
            </button>
          ) : null}
        </div>
      ) : null}
      {problem === undefined ? null : (
        <p className="moora-problem" role="alert">
          {problem}
        </p>
      )}
    </MessageForm>
  );
}

/** What a screen reader announces: that the agent works, how many questions wait, and the answer. */
function Announcer(): JSX.Element {
  const chat = useAgent();
  return (
    <p className="moora-unseen" role="status">
      {announcement(chat)}
    </p>
  );
}

function announcement({ status, questions, answer }: Pick<Chat, "status" | "questions" | "answer">): string {
  if (questions.length > 0)
    return questions.length === 1 ? "1 open question" : `${questions.length} open questions`;
  if (status === "running") return "The agent is working.";
  return typeof answer === "string" ? answer : "";
}
