import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventLog } from "@moora/event-log";
import { jsonlLog } from "@moora/event-log/jsonl";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentTool, defineAgent, openSession, pruneSessions, removeSession } from "../../src/index.ts";
import { callsThenAnswers } from "../restarts/restarts.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moora-damaged-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const opened = (): EventLog => jsonlLog(folder, { onNotice: () => undefined });

/** A session with one of a sub-agent, in a log that is closed. Returns the id of the second one. */
async function called(): Promise<string> {
  const log = opened();
  const worker = defineAgent({ name: "worker", llm: new MockLlmCaller(() => answers("1 Main Street")) });
  const agent = defineAgent({
    llm: callsThenAnswers({ name: "work", arguments: { task: "Find the address." } }),
    tools: [agentTool(worker, { name: "work", description: "Works.", log })],
  });
  const session = await openSession(agent, { log, id: "ada" });
  await session.ask("Where is Main Street?");
  await session.close();
  const id = (await log.list()).map((info) => info.id).find((each) => each !== "ada") ?? "";
  await log.close();
  return id;
}

/** Changes the file of a session. */
function damage(id: string, what: string, by: string): void {
  const files = readdirSync(folder).filter((each) => each.endsWith(".jsonl"));
  const paths = files.map((each) => join(folder, each));
  const path = paths.find((each) => readFileSync(each, "utf8").includes(`"id":"${id}"`)) ?? "";
  const text = readFileSync(path, "utf8");
  expect(text).toContain(what);
  writeFileSync(path, text.replace(what, by));
}

describe("a damaged session of a JSONL log", () => {
  it.each([
    ["its records are damaged", "Main", "Moon"],
    ["its header is damaged", "incarnation", "incarnati0n"],
  ])("is removed with its sub-agents, if %s", async (_, what, by) => {
    const child = await called();
    damage("ada", what, by);
    const log = opened();
    expect(await removeSession(log, "ada")).toEqual([child, "ada"]);
    expect(await log.list()).toEqual([]);
    await log.close();
  });

  it("does not keep its sub-agents from being removed", async () => {
    const child = await called();
    damage("ada", "incarnation", "incarnati0n");
    const log = opened();
    expect(await removeSession(log, child)).toEqual([child]);
    await log.close();
  });

  it("of a sub-agent is removed alone when its call has ended", async () => {
    const child = await called();
    damage(child, "Main", "Moon");
    const log = opened();
    expect(await removeSession(log, child)).toEqual([child]);
    expect((await log.list()).map(({ id }) => id)).toEqual(["ada"]);
    await log.close();
  });

  it("is not pruned, and is reported as unreadable", async () => {
    await called();
    damage("ada", "Main", "Moon");
    const log = opened();
    const { pruned, kept } = await pruneSessions(log, { before: Date.now() + 1_000 });
    expect(pruned).toEqual([]);
    expect(kept).toEqual([{ id: "ada", reason: "unreadable" }]);
    await log.close();
  });
});
