import type { AgUiEvent } from "./ag-ui-format.ts";

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

  grow(toolCallId: string, delta: string): AgUiEvent {
    const draft = this.#drafts.get(toolCallId);
    if (draft !== undefined) draft.text += delta;
    return { type: "TOOL_CALL_ARGS", toolCallId, delta };
  }

  /**
   * The events that complete the draft of a call, and whether the client then has another call than the log. Undefined for a call
   * without a draft.
   */
  complete(
    toolCallId: string,
    call: { readonly name: string; readonly parameters: string },
  ): { readonly events: readonly AgUiEvent[]; readonly differs: boolean } | undefined {
    const draft = this.#drafts.get(toolCallId);
    if (draft === undefined) return undefined;
    const differs = draft.name !== call.name || !call.parameters.startsWith(draft.text);
    const delta = differs ? "" : call.parameters.slice(draft.text.length);
    const rest = delta === "" ? [] : [{ type: "TOOL_CALL_ARGS", toolCallId, delta }];
    return { events: [...rest, ...this.end(toolCallId)], differs };
  }

  /** The event that ends a draft. */
  end(toolCallId: string): readonly AgUiEvent[] {
    return this.#drafts.delete(toolCallId) ? [{ type: "TOOL_CALL_END", toolCallId }] : [];
  }

  /** The events that end all drafts. */
  endAll(): readonly AgUiEvent[] {
    return [...this.#drafts.keys()].flatMap((id) => this.end(id));
  }
}
