import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { LlmPart } from "@moora/llm";
import { fieldsOf, type ReaderContext } from "@moora/llm/adapter";
import type { PartList } from "./part-list.ts";
import { partToOpaque } from "./part-to-opaque.ts";

type PartOf<Type extends LanguageModelV4StreamPart["type"]> = Extract<
  LanguageModelV4StreamPart,
  { readonly type: Type }
>;

/** A call that has started and is not complete. */
interface OpenCall {
  readonly setPart: (call: LlmPart) => void;
  /** Whether the deltas are pieces of the JSON text of the arguments. A provider may stream plain text instead. */
  readonly streamsJson: boolean;
  hasArguments: boolean;
}

/** The tool calls of an answer: emits their arguments while they are streamed, and puts them where they have started. */
export class StreamedCalls {
  readonly #context: Pick<ReaderContext, "feed" | "normalized">;
  readonly #parts: PartList;
  readonly #open = new Map<string, OpenCall>();

  constructor(context: Pick<ReaderContext, "feed" | "normalized">, parts: PartList) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Starts a call, unless the provider runs it itself. */
  start({ id, toolName, providerExecuted, inputEncoding }: PartOf<"tool-input-start">): void {
    if (providerExecuted !== true) this.#open.set(id, this.#started(id, toolName, inputEncoding !== "text"));
  }

  grow({ id, delta }: PartOf<"tool-input-delta">): void {
    const open = this.#open.get(id);
    if (open?.streamsJson !== true || delta === "") return;
    open.hasArguments = true;
    this.#context.feed.toolArguments(delta, keyOf(id));
  }

  /** Completes a call. Arguments that were not streamed are emitted as one piece. */
  complete(call: PartOf<"tool-call">): void {
    if (call.providerExecuted === true) return this.#parts.add(partToOpaque(call));
    const { feed, normalized } = this.#context;
    const { toolCallId: id, toolName, input, providerMetadata } = call;
    const open = this.#open.get(id) ?? this.#started(id, toolName, true);
    this.#open.delete(id);
    if (!open.hasArguments) feed.toolArguments(input, keyOf(id));
    feed.endPart(keyOf(id));
    open.setPart({
      type: "tool-call",
      id,
      name: normalized.nameOf(toolName),
      arguments: input === "" ? "{}" : input.toWellFormed(),
      ...(providerMetadata && { raw: fieldsOf(providerMetadata) }),
    });
  }

  #started(id: string, toolName: string, streamsJson: boolean): OpenCall {
    const { feed, normalized } = this.#context;
    feed.toolCall(normalized.nameOf(toolName), keyOf(id), id);
    return { setPart: this.#parts.startCall(), streamsJson, hasArguments: false };
  }
}

const keyOf = (id: string): string => `call ${id}`;
