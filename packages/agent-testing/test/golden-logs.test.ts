import { mkdtempSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, exportSession, openSession, type Agent, type Tool } from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { goldenText } from "@moora/testbed/corpus/files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { goldenLogs } from "../src/index.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moora-golden-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

const read = (file: string): string => readFileSync(join(folder, file), "utf8");
const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);

/** Writes a line of a golden file anew. */
function change(file: string, line: number, changed: object): void {
  const lines = read(file).trimEnd().split("\n");
  lines[line] = JSON.stringify({ ...JSON.parse(lines[line] ?? "{}"), ...changed });
  write(file, `${lines.join("\n")}\n`);
}

const pay = (more: object = {}): Tool =>
  defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ euros: z.number() }),
    approval: "always",
    ...more,
    execute: () => "paid",
  });

const agentWith = (...tools: readonly Tool[]): Agent =>
  defineAgent({
    llm: new MockLlmCaller([callsTools([{ name: "pay", arguments: { euros: 7 } }]), answers("Paid.")]),
    tools,
  });

/** A session that waits for an approval. */
async function recordOpenCall(name: string): Promise<void> {
  const log: EventLog = memoryLog();
  const session = await openSession(agentWith(pay()), { log, id: name });
  session.onEvent(() => undefined);
  await session.send("Pay 7 euros.");
  await session.settled();
  await session.close();
  write(`${name}.jsonl`, await exportSession(log, name));
}

describe("golden logs", () => {
  beforeEach(() => {
    for (const name of ["an-approval", "three-parallel-calls"]) write(`${name}.jsonl`, goldenText(name));
  });

  it("are missing until they are written, and the same after that", async () => {
    const missing = await goldenLogs(folder);
    expect(missing).toMatchObject({ ok: false, sessions: 2, updated: [] });
    expect(missing.toText()).toContain("an-approval.jsonl: The golden file has no line for record 0.");
    expect(readdirSync(folder).filter((file) => file.endsWith(".golden"))).toEqual([]);
    const written = await goldenLogs(folder, { update: true });
    expect(written).toMatchObject({
      ok: true,
      updated: ["an-approval.golden", "three-parallel-calls.golden"],
    });
    expect(await goldenLogs(folder, { update: true })).toMatchObject({ ok: true, updated: [] });
    expect(await goldenLogs(folder)).toMatchObject({
      ok: true,
      positions: written.positions,
      differences: [],
    });
  });

  it("have one line for each position, with the control state and the keys of the effects", async () => {
    await goldenLogs(folder, { update: true });
    const lines = read("an-approval.golden")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ seq: 0, input: "", control: "Idle", effects: {}, request: null });
    const asking = lines.find(({ control }) => control === "WaitingForHuman");
    expect(Object.keys(asking.effects)).toEqual(["ask/call_1/1/1/0"]);
  });

  it.each([
    ["control", { control: "Acting" }, 'control was "Acting", is "Idle"'],
    ["effects.plan/1/1/1", { effects: { "plan/1/1/1": "x" } }, 'effects.plan/1/1/1 was "x", is nothing'],
    ["request", { request: "x" }, 'request was "x", is null'],
    ["state", { state: "x" }, 'state was "x", is "'],
  ])("name the first record after which the %s differs", async (path, changed, text) => {
    await goldenLogs(folder, { update: true });
    change("an-approval.golden", 1, changed);
    change("an-approval.golden", 3, { state: "later" });
    const report = await goldenLogs(folder);
    expect(report.differences).toMatchObject([{ file: "an-approval.jsonl", seq: 1, path }]);
    expect(report.toText()).toContain(`an-approval.jsonl, record 1: ${text}`);
  });

  it("report a golden file that is not readable without its session, too, and an update removes it", async () => {
    await goldenLogs(folder, { update: true });
    write("gone.golden", "{");
    const { ok, differences } = await goldenLogs(folder);
    expect(ok).toBe(false);
    expect(differences).toMatchObject([{ file: "gone.jsonl", seq: 0, a: "not readable", b: undefined }]);
    await goldenLogs(folder, { update: true });
    expect(readdirSync(folder)).not.toContain("gone.golden");
    expect(await goldenLogs(folder)).toMatchObject({ ok: true });
  });

  it("report a session that has more records than its golden file", async () => {
    await goldenLogs(folder, { update: true });
    const [first = ""] = read("an-approval.golden").split("\n");
    write("an-approval.golden", `${first}\n`);
    expect((await goldenLogs(folder)).differences).toMatchObject([{ seq: 1, path: "", a: undefined }]);
  });

  it("report a golden file that has more positions than its session", async () => {
    await goldenLogs(folder, { update: true });
    const text = read("an-approval.golden");
    write("an-approval.golden", `${text}${text.trimEnd().split("\n").at(-1)}\n`);
    expect((await goldenLogs(folder)).toText()).toMatch(
      /an-approval\.jsonl: The session has no record \d+\./,
    );
  });

  it("report a damaged session, and do not overwrite its golden file", async () => {
    await goldenLogs(folder, { update: true });
    const golden = read("an-approval.golden");
    write("an-approval.jsonl", read("an-approval.jsonl").replace("Please", "Pleace"));
    const report = await goldenLogs(folder, { update: true });
    expect(report.differences).toMatchObject([{ file: "an-approval.jsonl", path: "log" }]);
    expect(read("an-approval.golden")).toBe(golden);
  });

  it("report a golden file that is not readable or has no session, and an update mends both", async () => {
    await goldenLogs(folder, { update: true });
    write("an-approval.golden", "not JSON\n");
    unlinkSync(join(folder, "three-parallel-calls.jsonl"));
    expect((await goldenLogs(folder)).differences).toMatchObject([
      { file: "an-approval.jsonl", seq: 0, path: "", a: undefined },
      { file: "three-parallel-calls.jsonl", seq: 0, path: "", b: undefined },
    ]);
    expect(await goldenLogs(folder, { update: true })).toMatchObject({ ok: true });
    expect(await goldenLogs(folder)).toMatchObject({ ok: true, sessions: 1 });
    expect(readdirSync(folder)).toEqual(["an-approval.golden", "an-approval.jsonl"]);
  });

  it("are refused for a folder without sessions, so that a test cannot pass without one", async () => {
    const empty = mkdtempSync(join(folder, "empty-"));
    await expect(goldenLogs(empty)).rejects.toThrow(RangeError);
    await expect(goldenLogs(empty)).rejects.toThrow(/has no sessions/);
    await expect(goldenLogs(join(folder, "missing"))).rejects.toThrow(/ENOENT/);
  });
});

describe("golden logs of an agent", () => {
  const resumed = async (agent: Agent): Promise<unknown> => {
    const report = await goldenLogs(folder, { agent });
    return report.differences.map(({ path, b }) => [path, b]);
  };

  beforeEach(async () => {
    await recordOpenCall("order");
    await goldenLogs(folder, { agent: agentWith(pay()), update: true });
  });

  it("have what becomes of the open calls", async () => {
    const last = read("order.golden").trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({
      resumed: { control: "WaitingForHuman", effects: ["ask/call_1/1/1/0"], calls: { call_1: "open" } },
    });
    expect(await resumed(agentWith(pay()))).toEqual([]);
  });

  it("are the same without the agent, which then is not compared, and keep what they have of it", async () => {
    const before = read("order.golden");
    expect((await goldenLogs(folder)).differences).toEqual([]);
    expect((await goldenLogs(folder, { update: true })).updated).toEqual([]);
    expect(read("order.golden")).toBe(before);
  });

  it("are the same for a release that keeps the calls of a renamed tool", async () => {
    expect(await resumed(agentWith(pay({ name: "transfer", formerNames: ["pay"] })))).toEqual([]);
  });

  it("differ for a release that forgets the former name of a tool", async () => {
    expect(await resumed(agentWith(pay({ name: "transfer" })))).toEqual([
      ["resumed", { control: "Planning", effects: ["plan/1/2/1"], calls: { call_1: "tool-changed" } }],
    ]);
  });

  it("differ for a release that cannot open the session", async () => {
    const other = { ...agentWith(pay()), name: "other" };
    expect(await resumed(other)).toEqual([["resumed", { error: "WrongAgent" }]]);
  });
});
