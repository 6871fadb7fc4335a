/**
 * A process that runs the session "ada" with telemetry: `host.ts FOLDER URL MANNER`. With the manner `hang`, its tool prints a line
 * when the spans so far are exported, and never ends; with `finish`, the process prints a line when the session is at rest.
 */
import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, defineTool, openSession } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import * as z from "zod";
import { sessionTelemetry } from "../../src/index.ts";

const [, , folder = "", url = "", manner = ""] = process.argv;
const positionFile = (identity: string): string => join(folder, encodeURIComponent(identity));

const exporter = new OTLPTraceExporter({ url });
const telemetry = sessionTelemetry({
  exporter,
  resource: { "service.name": "weather-service" },
  positions: {
    load(identity) {
      try {
        return Number(readFileSync(positionFile(identity), "utf8"));
      } catch {
        return undefined;
      }
    },
    save: (identity, seq) => writeFileSync(positionFile(identity), String(seq)),
  },
});

const weather = defineTool({
  name: "weather",
  description: "The weather now.",
  input: z.object({}),
  replay: "safe",
  async execute() {
    if (manner !== "hang") return "snow";
    await attached;
    await telemetry.flush();
    writeSync(1, "working\n");
    return await new Promise<string>(() => undefined);
  },
});

const usage = { inputTokens: 30, outputTokens: 10 };
const script = [callsTools([{ name: "weather" }], { usage }), answers("Snow.", { usage })];
const llm = new MockLlmCaller(manner === "hang" ? script : script.slice(1));
const agent = telemetry.traced(defineAgent({ name: "clerk", llm, tools: [weather] }));
const log = sqliteLog(join(folder, "sessions.db"));
const session = await openSession(agent, { log, id: "ada" });
const attached = telemetry.attach(session);
await attached;
if (manner === "hang") await session.ask("Weather?");
await session.settled();
await telemetry.close();
await session.close();
await log.close();
await exporter.shutdown();
writeSync(1, "done\n");
