import type { InputType } from "./input.ts";

/**
 * Who may dispatch an input. `anyone`: every caller with access to the session, including remote ones. `host`: the
 * application, through the methods of its session. `owner`: only the runner that executes the effects of the session.
 */
export type InputAccess = "anyone" | "host" | "owner";

/** The properties that all inputs of one type have. */
export interface InputTraits {
  readonly access: InputAccess;
  /** The work that the input is about; undefined if it is not about work. */
  readonly about: "model-call" | "tool-call" | "handler" | "wait" | undefined;
  /**
   * The role of the input for that work. `intent`: the work is about to start. `progress`: it runs. `answer`: it has ended.
   * `interruption`: it was interrupted and may start again. `fact`: the input is not about work.
   */
  readonly role: "intent" | "progress" | "answer" | "interruption" | "fact";
}

const fact = (access: InputAccess): InputTraits => ({ access, about: undefined, role: "fact" });

const owned = (about: InputTraits["about"], role: InputTraits["role"]): InputTraits => ({
  access: "owner",
  about,
  role,
});

/** The traits of each type of input. */
export const inputTraits: { readonly [Type in InputType]: InputTraits } = /* @__PURE__ */ Object.freeze({
  "user-message-received": fact("anyone"),
  "llm-call-started": owned("model-call", "intent"),
  "llm-call-interrupted": owned("model-call", "interruption"),
  "llm-message-started": owned("model-call", "progress"),
  "llm-chunk-received": owned("model-call", "progress"),
  "llm-message-completed": owned("model-call", "progress"),
  "re-act-observed": owned("model-call", "answer"),
  "llm-call-failed": owned("model-call", "answer"),
  "history-reflected": owned("model-call", "answer"),
  "tool-call-started": owned("tool-call", "intent"),
  "tool-call-completed": { access: "host", about: "tool-call", role: "answer" },
  "tool-call-asked": owned("tool-call", "answer"),
  "tool-call-interrupted": owned("tool-call", "interruption"),
  "tool-call-decided": { access: "anyone", about: "tool-call", role: "answer" },
  "deadline-passed": owned("wait", "answer"),
  "schedule-changed": fact("anyone"),
  "re-act-cancelled": fact("anyone"),
  "session-paused": fact("anyone"),
  "session-resumed": fact("anyone"),
  "loop-retried": fact("anyone"),
  "session-opened": fact("owner"),
  "agent-configured": fact("host"),
  "state-handler-started": owned("handler", "intent"),
  "state-handler-interrupted": owned("handler", "interruption"),
  "state-handled": owned("handler", "answer"),
  "context-window-expanded": fact("anyone"),
  "history-tool-calls-added": fact("anyone"),
  "tools-found": fact("owner"),
  "context-note-added": fact("host"),
  "data-changed": fact("host"),
  "usage-reported": fact("owner"),
  "snapshot-taken": fact("owner"),
});
