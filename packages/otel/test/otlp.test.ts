import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteLog } from "@moora/event-log/sqlite";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { expect, it } from "vitest";
import { exportSpans } from "../src/index.ts";
import { Collector, valueOf } from "./collector.ts";

const host = join(import.meta.dirname, "children/host.ts");

/** Runs a host until it prints a line. Kills it then, if `isKilled`; else waits until it ends. */
async function run(folder: string, url: string, manner: "hang" | "finish"): Promise<string> {
  const child = spawn(process.execPath, ["--conditions=@moora/source", host, folder, url, manner], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const [line] = await once(child.stdout, "data");
  if (manner === "hang") child.kill("SIGKILL");
  await exit;
  return String(line).trim();
}

it("a collector receives one whole trace of a session that was killed and opened again, each span once", async () => {
  await using collector = new Collector();
  const url = await collector.listen();
  const folder = mkdtempSync(join(tmpdir(), "moora-otel-"));
  try {
    expect(await run(folder, url, "hang")).toBe("working");
    expect(collector.spans.map(({ name }) => name)).toEqual(["chat"]);
    expect(await run(folder, url, "finish")).toBe("done");

    const { spans } = collector;
    expect(spans.map((span) => [span.name, valueOf(span, "error.type")])).toEqual([
      ["chat", undefined],
      ["execute_tool weather", "interrupted"],
      ["execute_tool weather", undefined],
      ["chat", undefined],
      ["invoke_agent clerk", undefined],
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(5);
    const root = spans.at(-1);
    expect(root?.parentSpanId).toBeUndefined();
    expect(spans.slice(0, -1).map(({ parentSpanId }) => parentSpanId)).toEqual(
      Array.from({ length: 4 }, () => root?.spanId),
    );
    expect(root === undefined ? undefined : valueOf(root, "moora.usage.input_tokens")).toBe(60);
    const [resource] = collector.bodies[0]?.resourceSpans ?? [];
    expect(resource?.resource.attributes).toEqual([
      { key: "service.name", value: { stringValue: "weather-service" } },
    ]);
    expect(resource?.scopeSpans[0]?.scope.name).toBe("@moora/otel");

    await using log = sqliteLog(join(folder, "sessions.db"));
    const exporter = new OTLPTraceExporter({ url });
    const live = [...spans];
    expect(await exportSpans(log, "ada", exporter, { resource: { "service.name": "weather-service" } })).toBe(
      5,
    );
    await exporter.shutdown();
    expect(collector.spans.slice(live.length)).toEqual(live);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
