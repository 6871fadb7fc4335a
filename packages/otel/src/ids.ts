import { TraceFlags, type SpanContext } from "@opentelemetry/api";
import { digestOf } from "@moora/event-log";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** The first bytes of a digest in hexadecimal digits, of which there are at most 32. */
function hexOf(digest: string, digits: number): string {
  let hex = "";
  for (let at = 0; hex.length < digits; at += 2) {
    const bits = (alphabet.indexOf(digest.charAt(at)) << 6) | alphabet.indexOf(digest.charAt(at + 1));
    hex += bits.toString(16).padStart(3, "0");
  }
  return hex.slice(0, digits);
}

/** What the ids of the spans of a session are computed from. */
export interface TraceSource {
  /** The identity of the session: its id, and its incarnation in a log. */
  readonly identity: string;
  /** The span that all loops of the session belong to, such as the tool call of a sub-agent. Default: each loop has its own trace. */
  readonly parent?: SpanContext | undefined;
}

/** The key of the root span of a loop. */
const rootKey = (loop: number): string => `loop/${loop}`;

/** The context of a span. The same identity, loop and key always give the same ids. */
export const spanContextAt = ({ identity, parent }: TraceSource, loop: number, key: string): SpanContext => ({
  traceId: parent?.traceId ?? hexOf(digestOf("moora.trace", identity, rootKey(loop)), 32),
  spanId: hexOf(digestOf("moora.span", identity, key), 16),
  traceFlags: TraceFlags.SAMPLED,
});

/** The context of the root span of a loop. */
export const rootContextAt = (source: TraceSource, loop: number): SpanContext =>
  spanContextAt(source, loop, rootKey(loop));
