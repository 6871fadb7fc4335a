export type { FollowedSession, PositionStore } from "./attachment.ts";
export type { Capture } from "./content.ts";
export { exportSpans, readSpans } from "./read-spans.ts";
export type { ReadOptions } from "./read-spans.ts";
export type { SessionSpan, SpanEvent, SpanResource } from "./session-span.ts";
export { sessionTelemetry } from "./session-telemetry.ts";
export type { AttachOptions, SessionTelemetry, TelemetryOptions } from "./session-telemetry.ts";
export type { SpanExporterLike, SpanProcessorLike } from "./sink.ts";
export { toolSpanContext } from "./tool-span.ts";
