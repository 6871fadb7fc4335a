import type { InputType } from "./input.ts";

/**
 * Who may dispatch an input. `anyone`: every caller that may speak to the session, also over a network. `host`: the code of
 * the application, through the methods of its session. `owner`: only the runner that executes the session's effects.
 */
export type InputAccess = "anyone" | "host" | "owner";

/** The one table of who may dispatch what: sessions, posters and servers follow it. */
export const inputAccess: { readonly [Type in InputType]: InputAccess } = {
  "user-message-received": "anyone",
  "llm-call-started": "owner",
  "llm-message-started": "owner",
  "llm-chunk-received": "owner",
  "llm-message-completed": "owner",
  "re-act-observed": "owner",
  "llm-call-failed": "owner",
  "history-reflected": "owner",
  "tool-call-started": "owner",
  "tool-call-completed": "host",
  "tool-call-interrupted": "owner",
  "tool-call-decided": "anyone",
  "deadline-passed": "owner",
  "re-act-cancelled": "anyone",
  "session-opened": "owner",
  "agent-configured": "host",
  "state-handler-started": "owner",
  "state-handled": "owner",
  "context-window-expanded": "anyone",
  "history-tool-calls-added": "anyone",
  "context-note-added": "host",
  "usage-reported": "owner",
  "snapshot-taken": "owner",
};
