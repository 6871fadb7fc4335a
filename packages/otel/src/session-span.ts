import {
  SpanKind,
  SpanStatusCode,
  type Attributes,
  type HrTime,
  type Link,
  type SpanContext,
  type SpanStatus,
} from "@opentelemetry/api";
import { scope } from "./names.ts";
import { msToHrTime } from "./time.ts";

/** The value of an attribute: `unknown` in release 1.10 of the API, a union in release 1.9. */
type Value = Attributes[string];

// oxlint-disable-next-line typescript/no-redundant-type-constituents -- the union is one in release 1.9
type RawAttribute = [string, Value | Promise<Value>];

/** The resource that spans belong to, in the form of `Resource` of `@opentelemetry/resources`. */
export interface SpanResource {
  readonly attributes: Attributes;
  readonly asyncAttributesPending?: boolean;
  readonly schemaUrl?: string;
  waitForAsyncAttributes?(): Promise<void>;
  merge(other: SpanResource | null): SpanResource;
  getRawAttributes(): RawAttribute[];
}

/** An event of a span. */
export interface SpanEvent {
  time: HrTime;
  name: string;
  attributes?: Attributes;
  droppedAttributesCount?: number;
}

/**
 * A span of a session that has ended, in the form of `ReadableSpan` of the OpenTelemetry SDK 2 and 3: any `SpanExporter` and
 * `SpanProcessor.onEnd` takes it.
 */
export interface SessionSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly spanContext: () => SpanContext;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly duration: HrTime;
  readonly ended: boolean;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
  readonly links: Link[];
  readonly events: SpanEvent[];
  readonly resource: SpanResource;
  readonly instrumentationScope: {
    readonly name: string;
    readonly version?: string;
    readonly schemaUrl?: string;
  };
  readonly droppedAttributesCount: number;
  readonly droppedEventsCount: number;
  readonly droppedLinksCount: number;
}

/** The fields of a span that differ from span to span. Times are in milliseconds since 1970. */
export interface SpanFields {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** The message of a failure; undefined for a span that succeeded. */
  readonly failure: string | undefined;
  readonly links?: Link[];
  readonly events?: SpanEvent[];
  readonly droppedEvents?: number;
}

/** Creates a span. A span that ends before it starts, because a clock was set back, ends when it starts. */
export function createSpan(fields: SpanFields, resource: SpanResource): SessionSpan {
  const { context, parent, startedAt, failure } = fields;
  const endedAt = Math.max(startedAt, fields.endedAt);
  return {
    name: fields.name,
    kind: fields.kind ?? SpanKind.INTERNAL,
    spanContext: () => context,
    ...(parent === undefined ? {} : { parentSpanContext: parent }),
    startTime: msToHrTime(startedAt),
    endTime: msToHrTime(endedAt),
    duration: msToHrTime(endedAt - startedAt),
    ended: true,
    status: statusOf(failure),
    attributes: fields.attributes,
    links: fields.links ?? [],
    events: fields.events ?? [],
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: fields.droppedEvents ?? 0,
    droppedLinksCount: 0,
  };
}

function statusOf(failure: string | undefined): SpanStatus {
  if (failure === undefined) return { code: SpanStatusCode.UNSET };
  return failure === "" ? { code: SpanStatusCode.ERROR } : { code: SpanStatusCode.ERROR, message: failure };
}

/** The resource that is given, or one of the given attributes. */
export const toResource = (
  given: SpanResource | Attributes = { "service.name": "unknown_service" },
): SpanResource => (isResource(given) ? given : resourceOf(given));

const isResource = (given: SpanResource | Attributes): given is SpanResource =>
  typeof given["getRawAttributes"] === "function";

/** A resource of these attributes. */
const resourceOf = (attributes: Attributes): SpanResource => ({
  attributes,
  merge: (other) => resourceOf({ ...attributes, ...other?.attributes }),
  getRawAttributes: () => Object.entries(attributes),
});
