import type { AgentState } from "@moora/agent-core-state-machine";
import type { LlmChunk } from "@moora/llm";
import type { CallLlmEffect } from "../effect.ts";
import { callsInternalTool } from "../internal-tools.ts";
import { isAborted } from "./abort.ts";
import type { EffectHost } from "./host.ts";
import { newCallIds } from "./observation.ts";

/** Returns a function that reports the chunks of a model call to viewers until the call is no longer wanted. */
export function chunkReporter(
  effect: CallLlmEffect,
  state: AgentState,
  host: EffectHost,
): (chunk: LlmChunk) => void {
  const reporter = new ChunkReporter(effect, state, host);
  let isReported = false;
  return (chunk) => {
    if (!isAborted(host)) return reporter.report(chunk);
    if (!isReported) host.onLateOutput?.(effect.key, "chunk");
    isReported = true;
  };
}

/** A call that the model is writing. */
interface Draft {
  readonly toolCallId: string;
  /** The length of the arguments so far. */
  length: number;
}

class ChunkReporter {
  readonly #effect: CallLlmEffect;
  readonly #state: AgentState;
  readonly #host: EffectHost;
  /** The length of the text that was reported. */
  #offset = 0;
  /** The length of the reasoning so far. */
  #reasoningOffset = 0;
  /** Text that waits: blank text before the first word, and half of a surrogate pair. */
  #held = "";
  /** The calls so far, by the numbers of their parts. A call of an internal tool has no id and is not here. */
  readonly #drafts = new Map<number, Draft>();
  #newId: (() => string) | undefined;

  constructor(effect: CallLlmEffect, state: AgentState, host: EffectHost) {
    this.#effect = effect;
    this.#state = state;
    this.#host = host;
  }

  report(chunk: LlmChunk): void {
    switch (chunk.type) {
      case "text":
        return this.#text(chunk.text, chunk.index);
      case "reasoning":
        return this.#reasoning(chunk.text, chunk.index);
      case "tool-call":
        return this.#call(chunk.name, chunk.index);
      case "tool-call-delta":
        return this.#arguments(chunk.text, chunk.index);
      case "part-end":
        return this.#endPart(chunk.index);
    }
  }

  /** Reports text. The first one that is not blank opens the message. */
  #text(added: string, part: number | undefined): void {
    const { key, messageId } = this.#effect;
    const whole = this.#held + added;
    const end = /[\uD800-\uDBFF]$/.test(whole) ? whole.length - 1 : whole.length;
    const text = whole.slice(0, end).toWellFormed();
    this.#held = whole.slice(text.trim() === "" && this.#offset === 0 ? 0 : end);
    if (this.#held.length === whole.length) return;
    const { dispatchNow, notify, clock } = this.#host;
    if (this.#offset === 0)
      dispatchNow?.({ type: "llm-message-started", messageId, key, timestamp: clock.now() });
    notify({ type: "LlmToken", messageId, ...partOf(part), text, offset: this.#offset });
    this.#offset += text.length;
  }

  #reasoning(text: string, part: number | undefined): void {
    const { messageId } = this.#effect;
    const offset = this.#reasoningOffset;
    this.#reasoningOffset += text.length;
    if (this.#isObserved)
      this.#host.notify({ type: "LlmReasoning", messageId, ...partOf(part), text, offset });
  }

  /** Reports a call under the id that it gets if the turn is accepted: ids are given in the order of the calls. */
  #call(name: string, part: number | undefined): void {
    const { messageId } = this.#effect;
    if (callsInternalTool(this.#state, name)) {
      if (this.#isObserved) this.#host.notify({ type: "LlmToolCall", messageId, name });
      return;
    }
    this.#newId ??= newCallIds(this.#state);
    const toolCallId = this.#newId();
    if (part !== undefined) this.#drafts.set(part, { toolCallId, length: 0 });
    if (this.#isObserved) this.#host.notify({ type: "LlmToolCall", messageId, toolCallId, name });
  }

  #arguments(text: string, part: number): void {
    const draft = this.#drafts.get(part);
    if (draft === undefined) return;
    const { toolCallId, length: offset } = draft;
    draft.length += text.length;
    const { messageId } = this.#effect;
    if (this.#isObserved)
      this.#host.notify({ type: "LlmToolCallDelta", messageId, toolCallId, text, offset });
  }

  #endPart(part: number): void {
    if (!this.#isObserved) return;
    const { messageId } = this.#effect;
    const call = this.#drafts.get(part);
    const ofCall = call === undefined ? {} : { toolCallId: call.toolCallId };
    this.#host.notify({ type: "LlmPartEnded", messageId, part, ...ofCall });
  }

  get #isObserved(): boolean {
    return this.#host.isObserved?.() !== false;
  }
}

const partOf = (part: number | undefined): { readonly part?: number } => (part === undefined ? {} : { part });
