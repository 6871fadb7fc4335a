import {
  defineAgent,
  startSession,
  type Agent,
  type AgentConfigChange,
  type Session,
  type Tool,
} from "@moora/agent";
import { MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { InMemorySpanExporter } from "@opentelemetry/sdk-trace";
import {
  sessionTelemetry,
  type SessionSpan,
  type SessionTelemetry,
  type TelemetryOptions,
} from "../src/index.ts";

export { toolOf } from "@moora/testbed/tool-of";

export interface Scene {
  readonly agent: Agent;
  readonly clock: TestClock;
  readonly session: Session;
  readonly exporter: InMemorySpanExporter;
  readonly telemetry: SessionTelemetry;
  /** The spans that have been exported, in order. */
  spans(): Promise<readonly SessionSpan[]>;
}

/** A session in memory, followed from its beginning. */
export async function scene(
  script: MockScript,
  tools: readonly Tool[] = [],
  { config = {}, ...options }: { readonly config?: AgentConfigChange } & TelemetryOptions = {},
): Promise<Scene> {
  const clock = new TestClock(1_000);
  const agent = defineAgent({ llm: new MockLlmCaller(script), tools, config });
  const exporter = new InMemorySpanExporter();
  const telemetry = sessionTelemetry({ exporter, ...options });
  const session = startSession(telemetry.traced(agent), { id: "ada", clock });
  await telemetry.attach(session);
  const spans = async (): Promise<readonly SessionSpan[]> => {
    await telemetry.flush();
    return exporter.getFinishedSpans();
  };
  return { agent, clock, session, exporter, telemetry, spans };
}

/** The span with this name. Throws if there is not exactly one. */
export function spanOf(spans: readonly SessionSpan[], name: string): SessionSpan {
  const found = spans.filter((span) => span.name === name);
  const [span] = found;
  if (found.length === 1 && span !== undefined) return span;
  const names = spans.map((other) => other.name).join(", ");
  throw new Error(`${found.length} spans are called ${name}: ${names}.`);
}

/** What a trace viewer shows of each span: its name, the name of its parent, and `error.type`. */
export const outline = (spans: readonly SessionSpan[]): readonly string[] =>
  spans.map(({ name, parentSpanContext, attributes }) => {
    const parent = spans.find((span) => span.spanContext().spanId === parentSpanContext?.spanId)?.name ?? "-";
    const error = attributes["error.type"];
    return typeof error === "string" ? `${name} < ${parent} ! ${error}` : `${name} < ${parent}`;
  });

/** The time of a span in milliseconds. */
export const timesOf = ({ startTime, endTime }: SessionSpan): readonly number[] =>
  [startTime, endTime].map(([seconds, nanos]) => seconds * 1_000 + nanos / 1_000_000);
