import type { HeaderLookup } from "./retry-after.ts";

/** An answer that is no event stream: an error status, a redirect, another content type. `body` is capped. */
export interface RefusedResponse {
  readonly status: number;
  readonly headers: HeaderLookup;
  readonly body: string;
}

/** An error of the transport, or the provider's own error event; `sent` and `answered` tell how far it had come. */
export interface BrokenStream {
  readonly error: unknown;
  readonly sent: boolean;
  readonly answered: boolean;
}

/** What kept a stream from coming to its last event. */
export type StreamFault =
  /** The caller's own signal. */
  | { readonly type: "aborted" }
  | { readonly type: "silent"; readonly afterMs: number }
  /** The server closed it; `empty` when not one byte had come. */
  | { readonly type: "cut"; readonly empty: boolean }
  /** An event that is not what the protocol says. */
  | { readonly type: "unreadable"; readonly error: unknown }
  | ({ readonly type: "response" } & RefusedResponse)
  | ({ readonly type: "broken" } & BrokenStream);
