import type { StreamFault } from "./stream-fault.ts";

type Fetch = typeof globalThis.fetch;

/** Receives the progress of a guarded request. */
export interface FetchObserver {
  onSent(): void;
  onStream(): void;
  /** The stream received bytes: those of a comment or a ping count, too. */
  onBytes(): void;
  /** Not an event stream. Called twice: with an empty body, then with the body. */
  onRefused(fault: StreamFault): void;
}

/** How much of a response is read that is not an event stream. */
const maxBodyBytes = 64 * 1024;

/**
 * A fetch that returns event streams only, and rejects for any other response. It follows no redirects: they would send the
 * conversation to another host than the configured one.
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
    // Reported before the body is read: a body that never ends must not hide the status.
    observer.onRefused({ type: "response", status, headers, body: "" });
    observer.onRefused({ type: "response", status, headers, body: await readBody(response.body) });
    throw new Error("Not an event stream.");
  };

/** Server-sent events, and the binary events of Amazon. */
const eventStreamTypes = /^(text\/event-stream|application\/vnd\.amazon\.eventstream)\b/i;

const isEventStream = (
  response: Response,
): response is Response & { readonly body: ReadableStream<Uint8Array<ArrayBuffer>> } => {
  const type = response.headers.get("content-type") ?? "";
  return response.ok && response.body !== null && (type === "" || eventStreamTypes.test(type));
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

/** The beginning of a body, up to the limit or to a broken connection. */
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
