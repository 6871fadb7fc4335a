import type { SecretMask } from "./secret-mask.ts";
import type { HttpServer } from "./server-address.ts";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** What a server may send at once: a body, or one event of a stream. */
export interface WireLimit {
  readonly maxBytes: number;
  /** Called with the body of the request before its response fails. */
  readonly onExceeded: (request: unknown) => void;
  /** Gets the headers of each request. */
  readonly mask: SecretMask;
}

/**
 * A `fetch` with the headers of a server, whose responses fail as soon as a body, or one event of a stream, is larger than the
 * limit. What was received by then is dropped.
 */
export const limitedFetch =
  ({ headers }: HttpServer, limit: WireLimit): Fetch =>
  async (url, init = {}) => {
    const own = typeof headers === "function" ? await headers() : (headers ?? {});
    limit.mask.addHeaders(own);
    const all = new Headers(init.headers);
    for (const [name, value] of Object.entries(own)) if (!all.has(name)) all.set(name, value);
    const response = await fetch(url, { ...init, headers: all });
    return limitedResponse(response, limit.maxBytes, () => limit.onExceeded(init.body));
  };

function limitedResponse(response: Response, maxBytes: number, onExceeded: () => void): Response {
  const { body, headers, status, statusText } = response;
  if (body === null) return response;
  const isEventStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  const limited = body.pipeThrough(byteLimit(maxBytes, onExceeded, isEventStream));
  return new Response(limited, { headers, status, statusText });
}

const newline = 10;
const carriageReturn = 13;

function byteLimit(
  maxBytes: number,
  onExceeded: () => void,
  isEventStream: boolean,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  let isLineEmpty = false;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (isEventStream) {
        // An empty line ends an event.
        for (const [index, byte] of chunk.entries()) {
          if (byte === newline && isLineEmpty) size = chunk.length - index - 1;
          if (byte !== carriageReturn) isLineEmpty = byte === newline;
        }
      }
      if (size <= maxBytes) return controller.enqueue(chunk);
      onExceeded();
      controller.error(new Error(`The server sent more than ${maxBytes} bytes at once.`));
    },
  });
}
