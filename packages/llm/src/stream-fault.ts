import type { HeaderLookup } from "./retry-after.ts";

/** A response that is not an event stream: an error, a redirect, another content type. `body` is truncated to 64 KB. */
export interface RefusedResponse {
  readonly status: number;
  readonly headers: HeaderLookup;
  readonly body: string;
}

/**
 * An error of the transport, or an error event that the SDK threw. `sent` is whether the request was sent, `answered`
 * whether the response was an event stream.
 */
export interface BrokenStream {
  readonly error: unknown;
  readonly sent: boolean;
  readonly answered: boolean;
}

/** The reason why a stream ended before its last event. */
export type StreamFault =
  /** The signal of the call was aborted. */
  | { readonly type: "aborted" }
  /** A limit of silence was exceeded. */
  | { readonly type: "silent"; readonly afterMs: number }
  /** Only signs of life came until the limit. */
  | { readonly type: "without-content"; readonly afterMs: number }
  /** The answer was not complete at the limit of the whole call. */
  | { readonly type: "too-long"; readonly afterMs: number }
  /** The server closed the stream; `empty` if it sent no byte. */
  | { readonly type: "cut"; readonly empty: boolean }
  /** An event does not follow the protocol. */
  | { readonly type: "unreadable"; readonly error: unknown }
  | ({ readonly type: "response" } & RefusedResponse)
  | ({ readonly type: "broken" } & BrokenStream);

/**
 * An error that names the fault of its stream. A client that finds the fault itself throws it from `open`, and a reader from
 * `add`; any other error is classified by the progress of the request.
 */
export class StreamFaultError extends Error {
  override readonly name = "StreamFaultError";
  readonly fault: StreamFault;

  constructor(fault: StreamFault) {
    super(`The stream ended: ${fault.type}.`);
    this.fault = fault;
  }
}
