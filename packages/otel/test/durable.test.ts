import { agentTool, defineAgent, openSession, type DurableSession, type EventLog } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools, hangs, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { turn } from "@moora/testbed/test-clock";
import { InMemorySpanExporter } from "@opentelemetry/sdk-trace";
import { describe, expect, it } from "vitest";
import {
  exportSpans,
  readSpans,
  sessionTelemetry,
  type PositionStore,
  type ReadOptions,
  type SessionSpan,
  type SessionTelemetry,
} from "../src/index.ts";
import { outline, spanOf, toolOf } from "./support.ts";

const asks = callsTools([{ name: "weather" }]);
const waits = toolOf("weather", () => new Promise(() => undefined), { replay: "safe" });
const works = toolOf("weather", () => "snow", { replay: "safe" });

/** A store of positions that counts in memory. */
class Positions implements PositionStore {
  readonly saved = new Map<string, number>();
  load(identity: string): number | undefined {
    return this.saved.get(identity);
  }
  save(identity: string, seq: number): void {
    this.saved.set(identity, seq);
  }
}

/** A process with its own handle on a storage, which ends without closing anything. */
class Life {
  readonly exporter = new InMemorySpanExporter();
  readonly telemetry: SessionTelemetry;
  readonly log: EventLog;

  constructor(storage: MemoryStorage, positions?: PositionStore) {
    this.log = memoryLog(storage);
    this.telemetry = sessionTelemetry({
      exporter: this.exporter,
      ...(positions === undefined ? {} : { positions }),
    });
  }

  async open(script: MockScript, tools = [works]): Promise<DurableSession> {
    const agent = defineAgent({ name: "clerk", llm: new MockLlmCaller(script), tools });
    const session = await openSession(agent, {
      log: this.log,
      id: "ada",
      isOwnerGone: () => true,
      onError: () => undefined,
    });
    await this.telemetry.attach(session);
    return session;
  }

  async spans(): Promise<readonly SessionSpan[]> {
    await this.telemetry.flush();
    return this.exporter.getFinishedSpans();
  }
}

async function collected(log: EventLog, id: string, options?: ReadOptions): Promise<readonly SessionSpan[]> {
  const spans: SessionSpan[] = [];
  for await (const span of readSpans(log, id, options)) spans.push(span);
  return spans;
}

/** A span as data, to compare. */
const dataOf = (span: SessionSpan): unknown => ({ ...span, spanContext: span.spanContext(), resource: null });

/** Runs a session whose process ends in the middle of a tool call, and opens it again. */
async function interrupted(positions?: PositionStore) {
  const storage = new MemoryStorage();
  const first = new Life(storage, positions);
  const session = await first.open([asks], [waits]);
  session.ask("Weather?").catch(() => undefined);
  await turn();
  const before = await first.spans();
  const second = new Life(storage, positions);
  const reopened = await second.open([answers("Snow.")]);
  await reopened.settled();
  return { storage, before, second, after: await second.spans() };
}

describe("a session that is opened again after a crash", () => {
  it("continues its trace, and what the crash left open has ended as interrupted", async () => {
    const { before, after } = await interrupted();
    expect(outline([...before, ...after])).toEqual([
      "chat < invoke_agent clerk",
      "execute_tool weather < invoke_agent clerk ! interrupted",
      "execute_tool weather < invoke_agent clerk",
      "chat < invoke_agent clerk",
      "invoke_agent clerk < -",
    ]);
    const all = [...before, ...after];
    expect(new Set(all.map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(new Set(all.map((span) => span.spanContext().spanId)).size).toBe(5);
    expect(spanOf(all, "invoke_agent clerk").events).toMatchObject([{ name: "moora.session.opened" }]);
  });

  it("has the same spans as its log", async () => {
    const { storage, before, after } = await interrupted();
    const log = memoryLog(storage);
    expect((await collected(log, "ada")).map(dataOf)).toEqual([...before, ...after].map(dataOf));
  });

  it("exports nothing that the stored position says was exported", async () => {
    const positions = new Positions();
    const { storage, second, after } = await interrupted(positions);
    expect(after).toHaveLength(4);
    second.exporter.reset();
    const third = new Life(storage, positions);
    const session = await third.open([answers("Rain.")]);
    expect(await third.spans()).toEqual([]);
    await session.ask("And now?");
    expect(outline(await third.spans())).toEqual(["chat < invoke_agent clerk", "invoke_agent clerk < -"]);
  });

  it("exports what an exporter had refused, if a position is stored", async () => {
    const positions = new Positions();
    const storage = new MemoryStorage();
    const deaf = sessionTelemetry({
      positions,
      exporter: { export: (_, done) => done({ code: 1 }) },
      onError: () => undefined,
    });
    const first = new Life(storage);
    const session = await first.open([answers("Snow.")]);
    await deaf.attach(session);
    await session.ask("Weather?");
    await deaf.flush();
    await session.close();
    const second = new Life(storage, positions);
    await second.open([]);
    expect(outline(await second.spans())).toEqual(["chat < invoke_agent clerk", "invoke_agent clerk < -"]);
  });

  it("exports everything when a position is stored for the first time", async () => {
    const storage = new MemoryStorage();
    const session = await new Life(storage).open([answers("Snow.")]);
    await session.ask("Weather?");
    await session.close();
    const life = new Life(storage, new Positions());
    await life.open([]);
    expect(await life.spans()).toHaveLength(2);
  });

  it("exports a long past without dropping a span", async () => {
    const storage = new MemoryStorage();
    const session = await new Life(storage).open(() => answers("Snow."));
    for (let count = 0; count < 50; count += 1) await session.ask("Weather?");
    await session.close();
    const exporter = new InMemorySpanExporter();
    const errors: unknown[] = [];
    const telemetry = sessionTelemetry({
      exporter,
      positions: new Positions(),
      maxQueueSize: 10,
      onError: (error) => errors.push(error),
    });
    await telemetry.attach(await new Life(storage).open([]));
    await telemetry.flush();
    expect(exporter.getFinishedSpans()).toHaveLength(100);
    expect(errors).toEqual([]);
  });

  it("is not disturbed by a store of positions that fails", async () => {
    const errors: unknown[] = [];
    const telemetry = sessionTelemetry({
      exporter: new InMemorySpanExporter(),
      positions: {
        load: () => undefined,
        save() {
          throw new Error("The disk is full.");
        },
      },
      onError: (error) => errors.push(error),
    });
    const life = new Life(new MemoryStorage());
    const session = await life.open([answers("Snow.")]);
    await telemetry.attach(session);
    expect((await session.ask("Weather?")).text).toBe("Snow.");
    await telemetry.flush();
    expect(errors.map(String)).toEqual(["Error: The disk is full."]);
  });
});

describe("a stored session", () => {
  it("can be exported, and again with the same ids", async () => {
    const { storage } = await interrupted();
    const log = memoryLog(storage);
    const exporters = [new InMemorySpanExporter(), new InMemorySpanExporter()] as const;
    for (const exporter of exporters) expect(await exportSpans(log, "ada", exporter)).toBe(5);
    const [one, two] = exporters.map((exporter) => exporter.getFinishedSpans().map(dataOf));
    expect(two).toEqual(one);
  });

  it("rejects with the error of the exporter", async () => {
    const { storage } = await interrupted();
    const exporter = {
      export: (_: unknown, done: (result: { code: number; error: Error }) => void) =>
        done({ code: 1, error: new Error("No route.") }),
    };
    await expect(exportSpans(memoryLog(storage), "ada", exporter)).rejects.toThrow("No route.");
    await expect(exportSpans(memoryLog(storage), "bob", exporter)).rejects.toThrow(
      'Session "bob" not found.',
    );
  });

  it("shows on request what has not ended, as unfinished", async () => {
    const storage = new MemoryStorage();
    const session = await new Life(storage).open([hangs()]);
    session.ask("Weather?").catch(() => undefined);
    await turn();
    const log = memoryLog(storage);
    expect(await collected(log, "ada")).toEqual([]);
    const open = await collected(log, "ada", { unfinished: true });
    expect(outline(open)).toEqual(["chat < invoke_agent clerk", "invoke_agent clerk < -"]);
    expect(open.map(({ attributes }) => attributes["moora.unfinished"])).toEqual([true, true]);
  });

  it("contains its sub-agents, with the spans that were exported live", async () => {
    const storage = new MemoryStorage();
    const life = new Life(storage);
    const child = defineAgent({ name: "researcher", llm: new MockLlmCaller([answers("Found.")]) });
    const research = agentTool(life.telemetry.traced(child), {
      name: "research",
      description: "Researches.",
      log: life.log,
      onSession: life.telemetry.onSession,
    });
    const script = [callsTools([{ name: "research", arguments: { task: "Look." } }]), answers("So it is.")];
    const session = await life.open(script, [research]);
    await session.ask("What is it?");
    const live = await life.spans();
    expect(outline(live).toSorted()).toEqual([
      "chat < invoke_agent clerk",
      "chat < invoke_agent clerk",
      "chat < invoke_agent researcher",
      "execute_tool research < invoke_agent clerk",
      "invoke_agent clerk < -",
      "invoke_agent researcher < execute_tool research",
    ]);
    const log = memoryLog(storage);
    const byId = (spans: readonly SessionSpan[]): unknown =>
      spans.map(dataOf).toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
    expect(byId(await collected(log, "ada"))).toEqual(byId(live));
    expect(await collected(log, "ada", { subAgents: null })).toHaveLength(4);
  });
});
