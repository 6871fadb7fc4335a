import {
  defineAgent,
  defineTool,
  exportSession,
  importSession,
  openSession,
  type DurableSession,
  type Tool,
} from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { diffPositions } from "../src/session/compare.ts";
import { marksIn } from "../src/session/marks.ts";
import { historyOf } from "./support.ts";

const refund = (euros: z.ZodType): Tool =>
  defineTool({
    name: "refund",
    description: "Pays back.",
    input: z.object({ order: z.string(), euros }),
    execute: () => "paid",
  });

/** Opens the session as a process of a release. */
const openAs = async (
  log: EventLog,
  owner: string,
  tool = refund(z.number()),
): Promise<DurableSession<unknown>> =>
  await openSession(
    defineAgent({ name: "shop", llm: new MockLlmCaller(() => answers("Hello.")), tools: [tool] }),
    { log, id: "shop", owner },
  );

const history = async (log: EventLog) => historyOf(await exportSession(log, "shop"));

/** The owners whose openings are marked as a take-over. */
const takeovers = async (log: EventLog): Promise<readonly string[]> =>
  (await history(log)).rows.flatMap(({ marks, text }) => (marksIn(marks).includes("takeover") ? [text] : []));

/** The log as a process leaves it that is killed now. */
async function killed(log: EventLog): Promise<EventLog> {
  const copy = memoryLog();
  await importSession(copy, await exportSession(log, "shop"));
  return copy;
}

describe("the record of an opening", () => {
  it("is not a take-over where the owner before it had closed the session, also after a post", async () => {
    const log = memoryLog();
    await using first = await openAs(log, "server-1");
    await first.ask("Hi.");
    await first.close();
    await (await openAs(log, "server-2")).close();
    await (await openAs(log, "server-3")).close();
    const agent = defineAgent({ name: "shop", llm: new MockLlmCaller([]), tools: [refund(z.number())] });
    await using poster = await openSession(agent, { log, id: "shop", access: "post" });
    await poster.pause();
    await (await openAs(log, "server-4")).close();
    expect(await takeovers(log)).toEqual([]);
  });

  it("is a take-over where the owner before it had not closed the session", async () => {
    const log = memoryLog();
    await using first = await openAs(log, "server-1");
    await first.ask("Hi.");
    const left = await killed(log);
    await (await openAs(left, "server-2")).close();
    expect(await takeovers(left)).toEqual(["opened by server-2"]);
  });
});

describe("the differences of two releases", () => {
  it("name the fields of the schema of a tool that differ", async () => {
    const log = memoryLog();
    await (await openAs(log, "server-1")).close();
    await (await openAs(log, "server-2", refund(z.number().max(100)))).close();
    const folded = await history(log);
    const { differences } = diffPositions(folded, 1, folded.length);
    const ofTool = differences.filter(({ path }) => path.startsWith("tools."));
    expect(ofTool).toEqual([{ path: "tools.refund.schema.properties.euros.maximum", a: undefined, b: 100 }]);
    expect(folded.rows.map(({ text }) => text)).toContain("configured: tool refund changed");
  });
});
