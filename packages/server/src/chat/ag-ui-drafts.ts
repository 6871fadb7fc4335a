import type { AgUiEvent } from "./ag-ui-event.ts";

interface Draft {
  readonly name: string;
  text: string;
}

/** The calls that a client of AG-UI sees while the model writes them. */
export class AgUiDrafts {
  readonly #drafts = new Map<string, Draft>();

  start(toolCallId: string, name: string): void {
    this.#drafts.set(toolCallId, { name, text: "" });
  }

  grow(toolCallId: string, delta: string): void {
    const draft = this.#drafts.get(toolCallId);
    if (draft !== undefined) draft.text += delta;
  }

  /**
   * Ends the draft of a call. Returns the rest of its arguments, and whether the client has another call than the log. Undefined for a
   * call without a draft.
   */
  complete(
    toolCallId: string,
    call: { readonly name: string; readonly parameters: string },
  ): { readonly rest: string; readonly differs: boolean } | undefined {
    const draft = this.#drafts.get(toolCallId);
    if (draft === undefined) return undefined;
    this.#drafts.delete(toolCallId);
    const differs = draft.name !== call.name || !call.parameters.startsWith(draft.text);
    return { rest: call.parameters.slice(draft.text.length), differs };
  }

  /** The events that end all drafts. */
  endAll(): readonly AgUiEvent[] {
    const ids = [...this.#drafts.keys()];
    this.#drafts.clear();
    return ids.map((toolCallId) => ({ type: "TOOL_CALL_END", toolCallId }));
  }
}
