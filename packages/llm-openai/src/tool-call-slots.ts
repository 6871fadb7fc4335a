import type { LlmPart } from "@moora/llm";
import { fieldsOf, isJsonObject, textToJson } from "@moora/llm/adapter";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";

type Delta = ChatCompletionChunk.Choice.Delta.ToolCall;

interface Slot {
  id: string;
  name: string;
  arguments: string;
  /** What a server adds of its own and wants back, such as a signature. */
  raw: Record<string, unknown>;
}

/**
 * Puts tool calls together from pieces. A piece belongs to the call at its index, unless it shows that another call
 * begins there: another id, or a name after arguments that are complete.
 */
export class ToolCallSlots {
  readonly #slots: Slot[] = [];
  readonly #at = new Map<number, Slot>();

  /** Takes a piece, and gives the name of the call when it has just become known. */
  add(delta: Delta): string | undefined {
    const id = delta.id ?? "";
    const name = delta.function?.name ?? "";
    const slot = this.#slotFor(delta, id, name);
    if (slot.id === "") slot.id = id;
    const isNewName = slot.name === "" && name !== "";
    if (name !== slot.name) slot.name += name;
    slot.arguments += delta.function?.arguments ?? "";
    Object.assign(slot.raw, fieldsOf(delta, "id", "index", "type", "function"));
    return isNewName ? slot.name : undefined;
  }

  /** The calls in the order in which they began; undefined when one has no name. */
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
    // Servers that number nothing speak of the call that they began last, or of the one with this id.
    const known = this.#at.get(delta.index) ?? this.#unnumbered(delta, id);
    const isOther =
      known !== undefined &&
      ((id !== "" && known.id !== "" && id !== known.id) ||
        (name !== "" && known.name !== "" && id === "" && isJsonObject(textToJson(known.arguments))));
    if (known && !isOther) return known;
    const slot: Slot = { id: "", name: "", arguments: "", raw: {} };
    this.#slots.push(slot);
    if (typeof delta.index === "number") this.#at.set(delta.index, slot);
    return slot;
  }

  #unnumbered(delta: Delta, id: string): Slot | undefined {
    if (typeof delta.index === "number") return undefined;
    return id === "" ? this.#slots.at(-1) : this.#slots.find((slot) => slot.id === id);
  }
}
