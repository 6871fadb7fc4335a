// A session in React: the view is an external store, shown as a list and a form.
import { startSession, type Agent } from "@moora/agent";
import { useState, useSyncExternalStore, type JSX } from "react";

export function Chat({ agent }: { readonly agent: Agent }): JSX.Element {
  const [chat] = useState(() => startSession(agent));
  const { messages, streaming } = useSyncExternalStore(chat.subscribe, chat.current);
  return (
    <form
      action={(form) => {
        const text = form.get("message");
        if (typeof text === "string") void chat.send(text);
      }}
    >
      <ul>
        {messages.map(({ id, role, content }) => (
          <li key={id} data-role={role}>
            {streaming?.messageId === id ? streaming.text : content}
          </li>
        ))}
      </ul>
      <input name="message" aria-label="Message" />
      <button>Send</button>
    </form>
  );
}
