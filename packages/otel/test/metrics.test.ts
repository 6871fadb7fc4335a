import { answers, callsTools, fails, hangs } from "@moora/llm/testing";
import { turn } from "@moora/testbed/test-clock";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { describe, expect, it } from "vitest";
import { scene, toolOf } from "./support.ts";

/** A meter, and the points of all of its metrics: `name {attributes}` with the value, or the count and the sum. */
function metered() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const points = async () => {
    await provider.forceFlush();
    const found = new Map<string, unknown>();
    for (const { scopeMetrics } of exporter.getMetrics().slice(-1)) {
      for (const { descriptor, dataPoints } of scopeMetrics.flatMap(({ metrics }) => metrics)) {
        for (const { attributes, value } of dataPoints) {
          const shown = Object.values(attributes).join(" ");
          found.set(
            `${descriptor.name} ${shown}`,
            typeof value === "number" ? value : [value.count, value.sum],
          );
        }
      }
    }
    await provider.shutdown();
    return Object.fromEntries(found);
  };
  return { meter: provider.getMeter("test"), points };
}

const usage = { inputTokens: 30, outputTokens: 10 };

describe("metrics", () => {
  it("are durations, tokens, tool calls and retries", async () => {
    const { meter, points } = metered();
    const script = [
      fails("overloaded"),
      callsTools([{ name: "weather" }, { name: "invented" }], { usage }),
      answers("Snow.", { usage }),
    ];
    const scened = await scene(
      script,
      [toolOf("weather", () => scened.clock.set(scened.clock.now() + 2_000))],
      {
        meter,
        provider: "mock",
      },
    );
    const run = scened.session.ask("Weather?");
    await scened.clock.whenWaiting(1);
    await scened.clock.advanceAsync(1_000);
    await run;
    expect(await points()).toEqual({
      "gen_ai.client.operation.duration chat mock overloaded": [1, 0],
      "gen_ai.client.operation.duration chat mock": [2, 0],
      "gen_ai.client.token.usage chat mock input": [2, 60],
      "gen_ai.client.token.usage chat mock output": [2, 20],
      "gen_ai.execute_tool.duration execute_tool weather": [1, 2],
      "gen_ai.invoke_agent.duration invoke_agent agent mock": [1, 3],
      "moora.tool.calls execute_tool weather": 1,
      "moora.tool.calls execute_tool _OTHER unknown-tool": 1,
      "moora.retries chat mock": 1,
    });
  });

  it("have the time that questions waited, and the usage of cancelled calls", async () => {
    const { meter, points } = metered();
    const script = [callsTools([{ name: "pay" }]), hangs("", { usage })];
    const { session, clock } = await scene(script, [toolOf("pay", undefined, { approval: "always" })], {
      meter,
    });
    const run = session.ask("Pay.");
    run.catch(() => undefined);
    await turn();
    clock.set(clock.now() + 60_000);
    const [question] = session.questions();
    if (question !== undefined) await session.decide(question, "approve");
    await turn();
    await session.cancel();
    await turn();
    const found = await points();
    expect(found).toMatchObject({
      "moora.human.wait.duration pay approval approved": [1, 60],
      "gen_ai.client.operation.duration chat mock cancelled": [1, 0],
      "gen_ai.client.token.usage chat mock input": [1, 30],
      "gen_ai.client.token.usage chat mock output": [1, 10],
    });
  });
});
