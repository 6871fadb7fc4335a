import type { StreamFault } from "./stream-fault.ts";

type Fetch = typeof globalThis.fetch;

export interface FetchObserver {
  onSent(): void;
  onStream(): void;
  /** Bytes came: a comment or a ping counts as life. */
  onBytes(): void;
  onRefused(fault: StreamFault): void;
}

/** As much of an answer that is no stream as is read. */
const maxBodyBytes = 64 * 1024;

/**
 * A fetch that lets nothing through but an event stream. It follows no redirect: an API that redirects is the wrong
 * address, and the conversation would go to whoever stands behind it.
 */
export const guardedFetch =
  (fetch: Fetch, observer: FetchObserver): Fetch =>
  async (input, init) => {
    observer.onSent();
    const response = await fetch(input, { ...init, redirect: "manual" });
    if (isEventStream(response)) {
      observer.onStream();
      return new Response(
        observed(response.body, () => observer.onBytes()),
        response,
      );
    }
    const { status, headers } = response;
    // Told before the body is read: one that never ends must not hide the status.
    observer.onRefused({ type: "response", status, headers, body: "" });
    observer.onRefused({ type: "response", status, headers, body: await readBody(response.body) });
    throw new Error("the answer is no event stream");
  };

const isEventStream = (
  response: Response,
): response is Response & { readonly body: ReadableStream<Uint8Array<ArrayBuffer>> } => {
  const type = response.headers.get("content-type") ?? "";
  return response.ok && response.body !== null && (type === "" || /^text\/event-stream\b/i.test(type));
};

const observed = (
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onBytes: () => void,
): ReadableStream<Uint8Array<ArrayBuffer>> =>
  body.pipeThrough(
    new TransformStream({
      transform(bytes, out) {
        onBytes();
        out.enqueue(bytes);
      },
    }),
  );

/** The beginning of a body, or nothing when it breaks off. */
async function readBody(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): Promise<string> {
  const reader = body?.getReader();
  if (!reader) return "";
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let bytes = 0; bytes < maxBodyBytes;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return text;
  } finally {
    reader.cancel().catch(() => undefined);
  }
  return text;
}
