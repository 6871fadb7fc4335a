import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Json, JsonObject, LlmPart } from "@moora/llm";
import { fieldsOf, isJsonObject } from "@moora/llm/adapter";

type Kind = "text" | "reasoning";
type Metadata = Extract<LanguageModelV4StreamPart, { readonly type: "text-start" }>["providerMetadata"];

interface GrowingPart {
  readonly type: Kind;
  text: string;
  metadata: JsonObject;
}

/** A call whose arguments are being streamed. It has no part if the stream ends before. */
interface StartedCall {
  readonly type: "started-call";
  call?: LlmPart;
}

/** Assembles the parts of an answer, in the order in which they start. */
export class PartList {
  readonly #parts: (GrowingPart | StartedCall | LlmPart)[] = [];
  /** The part of each block that is open, or was the last with its id. */
  readonly #blocks = new Map<string, GrowingPart>();

  /** Starts a block. The id of a block that has ended may be used again. */
  start(type: Kind, id: string, metadata: Metadata): void {
    const part: GrowingPart = { type, text: "", metadata: {} };
    this.#blocks.set(`${type} ${id}`, part);
    this.#parts.push(part);
    this.grow(type, id, "", metadata);
  }

  /** Appends text and metadata to a block, which starts here if no event has started it. */
  grow(type: Kind, id: string, delta: string, metadata: Metadata): void {
    const part = this.#blocks.get(`${type} ${id}`);
    if (part === undefined) {
      this.start(type, id, undefined);
      return this.grow(type, id, delta, metadata);
    }
    part.text += delta;
    if (metadata !== undefined) part.metadata = merged(part.metadata, fieldsOf(metadata));
  }

  add(part: LlmPart): void {
    this.#parts.push(part);
  }

  /** Starts a call here. Returns the function that sets its part when it is complete. */
  startCall(): (call: LlmPart) => void {
    const started: StartedCall = { type: "started-call" };
    this.#parts.push(started);
    return (call) => {
      started.call = call;
    };
  }

  /** The parts so far. */
  build(): readonly LlmPart[] {
    return this.#parts.flatMap((part) => {
      if (part.type === "started-call") return part.call ?? [];
      return "metadata" in part ? toPart(part) : part;
    });
  }
}

/** Merges metadata by provider: a later event may add fields to those of an earlier one. */
const merged = (earlier: JsonObject, later: JsonObject): JsonObject => ({
  ...earlier,
  ...Object.fromEntries(
    Object.entries(later).map(([provider, fields]): [string, Json] => {
      const known = earlier[provider];
      return [provider, isJsonObject(known) && isJsonObject(fields) ? { ...known, ...fields } : fields];
    }),
  ),
});

function toPart({ type, text, metadata }: GrowingPart): LlmPart {
  const words = text.toWellFormed();
  if (type === "reasoning") return { type, text: words, raw: metadata };
  return { type, text: words, ...(Object.keys(metadata).length > 0 && { raw: metadata }) };
}
