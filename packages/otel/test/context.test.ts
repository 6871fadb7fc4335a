import { agentTool, defineAgent, startSession } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sessionTelemetry, toolSpanContext } from "../src/index.ts";
import { outline, scene, spanOf, toolOf } from "./support.ts";

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer("http");

beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
afterAll(() => context.disable());
beforeEach(() => exporter.reset());

/** A request of an instrumented HTTP client. */
const request = async (name: string): Promise<string> => {
  await Promise.resolve();
  tracer.startSpan(name).end();
  return "ok";
};

describe("a traced agent", () => {
  it("runs its tools under their spans", async () => {
    const { session, telemetry } = await scene(
      [callsTools([{ name: "left" }, { name: "right" }]), answers("Done.")],
      [toolOf("left", () => request("GET /left")), toolOf("right", () => request("GET /right"))],
      { exporter },
    );
    await session.ask("Both.");
    await telemetry.flush();
    expect(outline(exporter.getFinishedSpans())).toEqual(
      expect.arrayContaining(["GET /left < execute_tool left", "GET /right < execute_tool right"]),
    );
    const traces = exporter.getFinishedSpans().map((span) => span.spanContext().traceId);
    expect(new Set(traces).size).toBe(1);
  });

  it("calls its model under the span of the call", async () => {
    const script = async () => {
      await request("POST /responses");
      return answers("Done.");
    };
    const { session, telemetry } = await scene(script, [], { exporter });
    await session.ask("Go.");
    await telemetry.flush();
    expect(outline(exporter.getFinishedSpans())).toContain("POST /responses < chat");
  });

  it("lets a tool read the context of its span", async () => {
    let read: unknown;
    let active: unknown;
    const tool = toolOf("left", (_, call) => {
      read = toolSpanContext(call);
      active = trace.getSpanContext(context.active());
    });
    const { session, telemetry } = await scene([callsTools([{ name: "left" }]), answers("Done.")], [tool], {
      exporter,
    });
    await session.ask("Go.");
    await telemetry.flush();
    expect(read).toEqual(spanOf(exporter.getFinishedSpans(), "execute_tool left").spanContext());
    expect(active).toEqual(read);
  });
});

describe("the handler of a custom state", () => {
  it("runs the tools that it calls under its span", async () => {
    const telemetry = sessionTelemetry({ exporter });
    const agent = defineAgent({
      llm: new MockLlmCaller([answers("Done.")]),
      tools: [toolOf("audit", () => request("GET /audit"))],
      config: {
        graph: {
          states: ["Audit"],
          rows: { Planning: { LlmFinalAnswer: "Audit" }, Audit: { Passed: "Done" } },
          terminals: [],
        },
      },
      states: {
        async Audit(_, { callTool }) {
          await callTool("audit", {});
          return "Passed";
        },
      },
    });
    const session = startSession(telemetry.traced(agent));
    await telemetry.attach(session);
    await session.ask("Go.");
    await telemetry.flush();
    expect(outline(exporter.getFinishedSpans())).toContain("GET /audit < handle_state Audit");
  });
});

describe("a sub-agent", () => {
  it("is no longer followed when its loop has ended", async () => {
    const telemetry = sessionTelemetry({ exporter });
    let followers = 0;
    const child = defineAgent({ llm: new MockLlmCaller(() => answers("Found.")) });
    const research = agentTool(child, {
      name: "research",
      description: "Researches.",
      onSession(session, call) {
        const onInput: typeof session.onInput = (listener) => {
          followers += 1;
          const stop = session.onInput(listener);
          return () => {
            followers -= 1;
            stop();
          };
        };
        telemetry.onSession({ ...session, onInput }, call);
        expect(followers).toBe(1);
      },
    });
    const script = [callsTools([{ name: "research", arguments: { task: "Look." } }]), answers("So it is.")];
    const session = startSession(
      telemetry.traced(defineAgent({ llm: new MockLlmCaller(script), tools: [research] })),
    );
    await session.ask("What is it?");
    await telemetry.flush();
    expect(outline(exporter.getFinishedSpans())).toContain("invoke_agent agent < -");
    expect(followers).toBe(0);
  });

  it("is a part of the trace of its caller, with its own tools", async () => {
    const telemetry = sessionTelemetry({ exporter });
    const child = defineAgent({
      name: "researcher",
      llm: new MockLlmCaller([callsTools([{ name: "search" }]), answers("Found.")]),
      tools: [toolOf("search", () => request("GET /search"))],
    });
    const research = agentTool(telemetry.traced(child), {
      name: "research",
      description: "Researches.",
      onSession: (session, call) => telemetry.onSession(session, call),
    });
    const llm = new MockLlmCaller([
      callsTools([{ name: "research", arguments: { task: "Look." } }]),
      answers("So it is."),
    ]);
    const session = startSession(telemetry.traced(defineAgent({ llm, tools: [research] })));
    await telemetry.attach(session, { agentName: "caller" });
    await session.ask("What is it?");
    await telemetry.flush();
    const all = exporter.getFinishedSpans();
    expect(outline(all).toSorted()).toEqual([
      "GET /search < execute_tool search",
      "chat < invoke_agent agent",
      "chat < invoke_agent agent",
      "chat < invoke_agent caller",
      "chat < invoke_agent caller",
      "execute_tool research < invoke_agent caller",
      "execute_tool search < invoke_agent agent",
      "invoke_agent agent < execute_tool research",
      "invoke_agent caller < -",
    ]);
    expect(new Set(all.map((span) => span.spanContext().traceId)).size).toBe(1);
  });
});
