/** @jsxImportSource preact */
import { computed, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { ConversationPanel } from "./conversation-panel.tsx";
import { showStart } from "./live-source.ts";
import { SessionItems } from "./session-items.tsx";
import { listSessions } from "./session-list.ts";
import { view } from "./store.ts";

const control = computed(() => view.value?.control);
const seq = computed(() => view.value?.seq);

/** A session as a chat, on a wide page with the other sessions beside it. The inspector is one press away. */
export function ChatScreen(): JSX.Element {
  useSignalEffect(() => {
    // What the list shows changes with the state of the session.
    if (control.value !== undefined) void listSessions();
  });
  return (
    <main class="chat-screen" tabIndex={-1} data-seq={seq}>
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
