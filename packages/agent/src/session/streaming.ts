import { answerMessageId, Draft, messageOf, withFields } from "@moora/agent-core-state-machine/internal";
import type { AgentState } from "@moora/agent-core-state-machine";
import type { AnswerDraft, Progress } from "@moora/agent-webui-protocol";
import type { SessionView } from "./session.ts";

/** What the model is writing, which the state does not contain yet. */
export class StreamingOverlay {
  /** One for each attempt: a draft that was handed out does not become another answer. */
  #draft = new Draft();
  #view: { readonly of: AgentState; readonly view: SessionView } | undefined;

  /** Returns what is new of a progress: a piece once, and none after a gap. */
  add(progress: Progress): Progress | undefined {
    if (!("messageId" in progress)) return progress;
    if (progress.messageId !== this.#draft.messageId) this.#draft = new Draft();
    const added = this.#draft.add(progress);
    if (added?.type === "LlmToken") this.#view = undefined;
    return added;
  }

  /** What the model has written of the answer that it writes at this state. */
  draftAt({ reActContext }: Pick<AgentState, "reActContext">): AnswerDraft | undefined {
    const { control } = reActContext;
    const isOwn =
      control.type === "Planning" && answerMessageId(reActContext, control) === this.#draft.messageId;
    return isOwn ? this.#draft : undefined;
  }

  /** Drops what the model does not write any more at this state. */
  follow(state: AgentState): void {
    if (this.#draft.messageId !== "" && this.draftAt(state) === undefined) this.#draft = new Draft();
  }

  /** The text so far of the streaming message of this state; "" if it has none. */
  partialAt(state: AgentState): string {
    return this.#streamingAt(state)?.text ?? "";
  }

  viewOf(state: AgentState): SessionView {
    if (this.#view?.of !== state)
      this.#view = { of: state, view: withFields(state, { streaming: this.#streamingAt(state) }) };
    return this.#view.view;
  }

  #streamingAt(state: AgentState): SessionView["streaming"] {
    const { messageId, text } = this.#draft;
    const { control } = state.reActContext;
    if (text === "" || control.type !== "Planning" || control.messageId !== messageId) return null;
    return messageOf(state, messageId)?.streaming === true ? { messageId, text } : null;
  }
}
