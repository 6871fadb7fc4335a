import type { Progress } from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";
import { messageOf, withFields } from "@moora/agent-core-state-machine/internal";
import type { SessionView } from "./session.ts";

/** The text of the message that is being streamed, which the state does not contain yet. */
export interface StreamingOverlay {
  add(chunk: Extract<Progress, { type: "llm-text" }>): void;
  /** The text so far of the streaming message of this state; "" if it has none. */
  partialAt(state: AgentState): string;
  viewOf(state: AgentState): SessionView;
}

export function streamingOverlay(): StreamingOverlay {
  let streaming: SessionView["streaming"] = null;
  let view: SessionView | undefined;
  let viewed: AgentState | undefined;

  const openAt = (state: AgentState): SessionView["streaming"] => {
    if (streaming === null) return null;
    const { control } = state.reActContext;
    if (control.type !== "Planning" || control.messageId !== streaming.messageId) return null;
    const message = messageOf(state, streaming.messageId);
    return message?.streaming === true ? streaming : null;
  };

  return {
    add({ messageId, text, offset }) {
      const before = streaming?.messageId === messageId && offset > 0 ? streaming.text : "";
      streaming = { messageId, text: before + text };
      view = undefined;
    },
    partialAt: (state) => openAt(state)?.text ?? "",
    viewOf(state) {
      if (view === undefined || viewed !== state) {
        view = withFields(state, { streaming: openAt(state) });
        viewed = state;
      }
      return view;
    },
  };
}
