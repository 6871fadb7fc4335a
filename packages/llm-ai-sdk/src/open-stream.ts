import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { StreamFaultError, type StreamFault, type WireCall, isJsonObject } from "@moora/llm/adapter";
import { errorToFault } from "./ai-sdk-failure.ts";
import type { AiSdkModel } from "./ai-sdk-model.ts";
import type { AiSdkBody } from "./request-to-ai-sdk.ts";
import type { Json, JsonObject } from "@moora/llm";

/** A model of one call. `connect` sets the `fetch` that it uses; undefined if the model has its own. */
export interface ConnectedModel {
  readonly model: AiSdkModel;
  readonly supportedUrls: Awaited<AiSdkModel["supportedUrls"]>;
  readonly connect?: (fetch: typeof globalThis.fetch) => void;
}

/** How long a server may send nothing after the last chunk of an answer before the stream is ended. */
const maxDrainMs = 1000;

/** Sends a request and resolves to the parts of the answer. Rejects with a `StreamFaultError` where the fault is known. */
export async function openStream(
  { model, connect }: ConnectedModel,
  body: AiSdkBody,
  call: WireCall,
  idleTimeoutMs: number,
): Promise<AsyncIterable<LanguageModelV4StreamPart>> {
  const ending = endableFetch(call.fetch);
  connect?.(ending.fetch);
  try {
    // The structural type of the model has no parts: their type is the AI SDK's.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { stream } = await (model as LanguageModelV4).doStream({
      ...body,
      abortSignal: call.signal,
      headers: { ...call.headers },
    });
    return endedParts(stream, ending, Math.min(maxDrainMs, idleTimeoutMs / 2));
  } catch (error) {
    const fault =
      errorToFault(error, false) ?? (connect === undefined ? ownTransportFault(error) : undefined);
    throw fault === undefined ? error : new StreamFaultError(fault);
  }
}

async function* endedParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  ending: EndableFetch,
  drainMs: number,
): AsyncGenerator<LanguageModelV4StreamPart, void, undefined> {
  try {
    yield* readParts(stream, () => ending.endAfter(drainMs));
  } finally {
    ending.cancel();
  }
}

/** An error of a model with its own transport: the AI SDK reports failed connections as errors of the call. */
const ownTransportFault = (error: unknown): StreamFault | undefined =>
  error instanceof Error && error.name === "AI_APICallError"
    ? { type: "broken", error, sent: true, answered: false }
    : undefined;

/**
 * The parts of a stream. The first part, which arrives with the headers, is passed on with the second one, so that it does not
 * count as the beginning of the answer. `onLastChunk` is called for the raw chunk that completes the content, and for every
 * part after it.
 */
export async function* readParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  onLastChunk: () => void,
): AsyncGenerator<LanguageModelV4StreamPart, void, undefined> {
  let start: LanguageModelV4StreamPart | undefined;
  let isLast = false;
  const reader = stream.getReader();
  try {
    for (;;) {
      // A stream is read chunk by chunk.
      // oxlint-disable-next-line no-await-in-loop
      const { done, value: part } = await reader.read();
      if (done) return;
      if (part.type === "stream-start") {
        start = part;
        continue;
      }
      isLast ||= part.type === "raw" && isLastChunk(part.rawValue);
      if (isLast) onLastChunk();
      if (start !== undefined) yield start;
      start = undefined;
      yield part;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

const lastTypes: readonly unknown[] = [
  "message_stop",
  "response.completed",
  "response.failed",
  "response.incomplete",
];

/**
 * Whether a raw chunk of a provider completes the content of its answer. The model of the AI SDK finishes an answer only
 * when the connection ends, and some servers leave it open. Usage may follow.
 */
function isLastChunk(chunk: unknown): boolean {
  if (!isJsonObject(chunk)) return false;
  const { type, choices, candidates, messageStop } = chunk;
  return (
    lastTypes.includes(type) ||
    isJsonObject(messageStop) ||
    typeof firstOf(choices)?.["finish_reason"] === "string" ||
    isFinal(firstOf(candidates)?.["finishReason"])
  );
}

const firstOf = (list: Json | undefined): JsonObject | undefined => {
  const [first] = Array.isArray(list) ? list : [];
  return isJsonObject(first) ? first : undefined;
};

/** An answer of Gemini that is continued by another request is not complete. */
const isFinal = (reason: Json | undefined): boolean =>
  typeof reason === "string" && reason !== "CONTINUATION";

/** A `fetch` whose open responses can be ended from outside, as if the server had closed the connection. */
interface EndableFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Ends the response after this time of silence. A later call starts the time again. */
  endAfter(silenceMs: number): void;
  /** Stops waiting. */
  cancel(): void;
}

/** Wraps a `fetch`. Bytes that arrive while `endAfter` waits are still passed on. */
function endableFetch(fetch: typeof globalThis.fetch): EndableFetch {
  let end: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = (): void => clearTimeout(timer);
  return {
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (response.body === null) return response;
      const body = response.body.pipeThrough(
        new TransformStream({
          start(controller) {
            end = () => controller.terminate();
          },
        }),
      );
      return new Response(body, response);
    },
    endAfter(silenceMs) {
      cancel();
      timer = setTimeout(() => end?.(), silenceMs);
    },
    cancel,
  };
}
