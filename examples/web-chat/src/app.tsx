import { useAgent } from "@moora/react";
import type { JSX } from "react";
import type { shopper } from "../agent.ts";
import { Composer } from "./composer.tsx";
import { ConnectionStatus } from "./connection-status.tsx";
import { MessageView } from "./message-view.tsx";
import { Questions } from "./questions.tsx";
import { ShoppingList } from "./shopping-list.tsx";
import { useBottom } from "./use-bottom.ts";
import { usePost } from "./use-post.ts";

/** The chat with the shopping list beside it. */
export function App(): JSX.Element {
  const { messages, status, connection } = useAgent<typeof shopper>();
  const bottom = useBottom();
  const unsent = connection?.pending.filter(({ kind }) => kind === "messages") ?? [];
  return (
    <div className="app">
      <header>
        <h1>Shopping with an agent</h1>
        <ConnectionStatus />
      </header>
      <main>
        <section className="chat" aria-label="Chat">
          <div
            className="messages"
            role="log"
            aria-label="Messages"
            aria-busy={status === "running"}
            tabIndex={0}
            ref={bottom}
          >
            <ol>
              {messages.length === 0 && (
                <li className="hint">Write “add milk and bread”, or ask what this is.</li>
              )}
              {messages.map(({ id, role }) => (
                <MessageView key={id} id={id} role={role} />
              ))}
              {unsent.map(({ key, content, isConfirmed }) => (
                <li key={key} className="message user unsent">
                  <p>{content}</p>
                  {!isConfirmed && <small>Not sent yet</small>}
                </li>
              ))}
            </ol>
          </div>
          {status === "failed" && <Failure />}
          <Questions />
          <Composer />
        </section>
        <ShoppingList />
      </main>
    </div>
  );
}

/** Why the newest loop has failed, with the button that tries again. */
function Failure(): JSX.Element {
  const { failure, retry } = useAgent<typeof shopper>();
  const [problem, post] = usePost();
  return (
    <p className="failure" role="alert">
      {failure?.kind === "Cancelled" ? "Stopped." : failure?.message} {problem}{" "}
      <button type="button" onClick={() => void post(() => retry())}>
        Try again
      </button>
    </p>
  );
}
