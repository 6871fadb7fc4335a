import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { StreamFaultError, type StreamFault, type WireCall } from "@moora/llm/adapter";
import { errorToFault } from "./ai-sdk-failure.ts";
import type { AiSdkModel } from "./ai-sdk-model.ts";
import { endableFetch, type EndableFetch } from "./endable-fetch.ts";
import { readParts } from "./read-parts.ts";
import type { AiSdkBody } from "./request-to-ai-sdk.ts";

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
