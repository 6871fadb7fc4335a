import type { LlmPart } from "@moora/llm";
import { fieldsOf, isJsonObject, textToJson } from "@moora/llm/adapter";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";

type Delta = ChatCompletionChunk.Choice.Delta.ToolCall;

interface Slot {
  /** The number of the call, from 0. */
  readonly number: number;
  id: string;
  name: string;
  arguments: string;
  /** Additional fields of the server, such as a signature, which it expects back. */
  raw: Record<string, unknown>;
}

/** What a delta adds to a call that has a name. */
export interface CallDelta {
  /** The number of the call, from 0. */
  readonly number: number;
  readonly id: string;
  readonly name: string;
  /** Whether the call has its name since this delta. */
  readonly isNew: boolean;
  /** The arguments that were not returned before. */
  readonly arguments: string;
}

/**
 * Assembles tool calls from deltas. A delta belongs to the call at its index, unless it starts another one: by another id
 * or by a name, after complete arguments. Some servers give each delta of a call another id.
 */
export class ToolCallSlots {
  readonly #slots: Slot[] = [];
  readonly #at = new Map<number, Slot>();

  /** Adds a delta. Returns what it adds to its call; undefined as long as the call has no name. */
  add(delta: Delta): CallDelta | undefined {
    const id = delta.id ?? "";
    const name = delta.function?.name ?? "";
    const slot = this.#slotFor(delta, id, name);
    if (slot.id === "") slot.id = id;
    const isNewName = slot.name === "" && name !== "";
    if (name !== slot.name) slot.name += name;
    const given: unknown = delta.function?.arguments ?? "";
    const added = typeof given === "string" ? given : JSON.stringify(given);
    slot.arguments += added;
    Object.assign(slot.raw, fieldsOf(delta, "id", "index", "type", "function"));
    if (slot.name === "") return undefined;
    return {
      number: slot.number,
      id: slot.id,
      name: slot.name,
      isNew: isNewName,
      arguments: isNewName ? slot.arguments : added,
    };
  }

  /** The calls in the order in which they started; undefined if a call has no name. */
  parts(nameOf: (wireName: string) => string): readonly LlmPart[] | undefined {
    if (this.#slots.some(({ name }) => name === "")) return undefined;
    return this.#slots.map(({ id, name, arguments: argumentsText, raw }) => ({
      type: "tool-call",
      id,
      name: nameOf(name),
      arguments: argumentsText.trim() === "" ? "{}" : argumentsText.toWellFormed(),
      ...(Object.keys(raw).length > 0 && { raw: fieldsOf(raw) }),
    }));
  }

  #slotFor(delta: Delta, id: string, name: string): Slot {
    // Without an index, a delta belongs to the call with its id, otherwise to the last call.
    const known = this.#at.get(delta.index) ?? this.#unnumbered(delta, id);
    if (known && !startsAnother(known, id, name)) return known;
    const slot: Slot = { number: this.#slots.length, id: "", name: "", arguments: "", raw: {} };
    this.#slots.push(slot);
    if (typeof delta.index === "number") this.#at.set(delta.index, slot);
    return slot;
  }

  #unnumbered(delta: Delta, id: string): Slot | undefined {
    if (typeof delta.index === "number") return undefined;
    return id === "" ? this.#slots.at(-1) : this.#slots.find((slot) => slot.id === id);
  }
}

/** Whether a delta with this id and name starts another call than the one at its place. */
function startsAnother(known: Slot, id: string, name: string): boolean {
  const isOtherId = id !== "" && known.id !== "" && id !== known.id;
  if (!isOtherId && (id !== "" || name === "" || known.name === "")) return false;
  if (isJsonObject(textToJson(known.arguments))) return true;
  return isOtherId && name !== "" && known.name !== "" && known.arguments.trim() === "";
}
