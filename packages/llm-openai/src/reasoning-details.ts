import type { Json, JsonObject } from "@moora/llm";
import { fieldsOf, isJsonObject } from "@moora/llm/adapter";

/** The field for the details of reasoning, in answers and in requests. The SDK has no type for it. */
const field = "reasoning_details";

/** Assembles the details of reasoning that some servers send and expect back unchanged, such as OpenRouter. */
export class ReasoningDetails {
  readonly #details: JsonObject[] = [];

  /** Adds those of a delta: a piece of text or of a summary continues the detail before it. */
  add(delta: object | undefined): void {
    const pieces: unknown = isJsonObject(delta) ? delta[field] : undefined;
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces.filter(isJsonObject)) this.#addPiece(fieldsOf(piece));
  }

  /** The details so far; undefined if there are none. */
  all(): readonly JsonObject[] | undefined {
    return this.#details.length > 0 ? this.#details : undefined;
  }

  #addPiece(piece: JsonObject): void {
    const last = this.#details.at(-1);
    const continues =
      last !== undefined && last["type"] === piece["type"] && last["index"] === piece["index"];
    if (!continues || typeof piece["data"] === "string") return void this.#details.push(piece);
    const known = Object.entries(piece).filter(([, value]) => value !== null);
    const joined = known.map(([name, value]): [string, Json] => {
      const before = last[name];
      const grows = (name === "text" || name === "summary") && typeof before === "string";
      return [name, grows && typeof value === "string" ? before + value : value];
    });
    this.#details.splice(-1, 1, { ...last, ...Object.fromEntries(joined) });
  }
}

/** The field with the details of a turn, from the raw parts of its reasoning. */
export function detailsField(raws: readonly Json[]): JsonObject {
  const details = raws.flatMap((raw): readonly Json[] => (Array.isArray(raw) ? raw : []));
  return details.length > 0 ? { [field]: details } : {};
}
