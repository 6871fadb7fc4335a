/** @jsxImportSource preact */
import { useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { ConversationPanel } from "./conversation-panel.tsx";
import { showStart } from "./live-source.ts";
import { SessionItems } from "./session-items.tsx";
import { listSessions } from "./session-list.ts";
import { view } from "./store.ts";

/** A session as a chat, on a wide page with the other sessions beside it. The inspector is one press away. */
export function ChatScreen(): JSX.Element {
  useSignalEffect(() => {
    // What the list shows changes with the state of the session.
    void view.value?.control;
    void listSessions();
  });
  return (
    <main class="chat-screen" tabIndex={-1} data-seq={view.value?.seq}>
      <nav class="sessions" aria-label="Sessions of this server">
        <button type="button" class="primary" onClick={showStart}>
          New session
        </button>
        <SessionItems />
      </nav>
      <ConversationPanel />
    </main>
  );
}
