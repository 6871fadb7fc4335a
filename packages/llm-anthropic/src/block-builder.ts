import type { Json, JsonObject } from "@moora/llm";
import { fieldsOf, isJsonObject, textToJson } from "@moora/llm/adapter";
import type { RawContentBlockDelta } from "@anthropic-ai/sdk/resources/messages";
import type { CompleteBlock } from "./block-to-part.ts";

/** Assembles one block of an answer from its deltas. */
export class BlockBuilder {
  readonly #start: JsonObject;
  readonly #texts = { text: "", thinking: "", signature: "", input: "" };
  readonly #citations: Json[] = [];
  isComplete = false;

  constructor(start: object) {
    this.#start = fieldsOf(start);
    for (const name of ["text", "thinking", "signature"] as const) {
      const initial = this.#start[name];
      if (typeof initial === "string") this.#texts[name] = initial;
    }
  }

  get type(): Json | undefined {
    return this.#start["type"];
  }

  get text(): string {
    return this.#texts.text;
  }

  /** The id of a call; "" for any other block. */
  get id(): string {
    return this.#startText("id");
  }

  /** The name of the tool that is called; "" for any other block. */
  get name(): string {
    return this.#startText("name");
  }

  add(delta: RawContentBlockDelta): void {
    if (delta.type === "text_delta") this.#texts.text += delta.text;
    if (delta.type === "thinking_delta") this.#texts.thinking += delta.thinking;
    if (delta.type === "signature_delta") this.#texts.signature += delta.signature;
    if (delta.type === "input_json_delta") this.#texts.input += delta.partial_json;
    if (delta.type === "citations_delta") this.#citations.push(fieldsOf(delta.citation));
  }

  #startText(name: "id" | "name"): string {
    const text = this.#start[name];
    return typeof text === "string" ? text : "";
  }

  build(): CompleteBlock {
    const { text, thinking, signature, input } = this.#texts;
    const parsed = textToJson(input);
    return {
      inputText: input,
      block: {
        ...this.#start,
        // Some gateways leave out fields that are empty at the start.
        ...(this.type === "text" && { text }),
        ...(this.type === "thinking" && { thinking, signature }),
        ...(isJsonObject(parsed) && { input: parsed }),
        ...(this.#citations.length > 0 && { citations: this.#citations }),
      },
    };
  }
}
