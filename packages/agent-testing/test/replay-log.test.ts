import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportSession, openSession } from "@moora/agent";
import { rulesVersion } from "@moora/agent-core-state-machine";
import { memoryLog } from "@moora/event-log";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ReplayDiffers, replayLog } from "../src/index.ts";
import { payingAgent } from "./paying-agent.ts";

const folder = mkdtempSync(join(tmpdir(), "moora-replayed-"));
const recorded = join(folder, "recorded.jsonl");

beforeAll(async () => {
  const log = memoryLog();
  await using session = await openSession(payingAgent("keyed"), { log, id: "ada" });
  await session.ask("Hello");
  await session.ask("And again");
  writeFileSync(recorded, await exportSession(log, "ada"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const damaged = (change: (text: string) => string): string => {
  const file = join(folder, "damaged.jsonl");
  writeFileSync(file, change(readFileSync(recorded, "utf8")));
  return file;
};

describe("a recorded session", () => {
  it("is a test in one line", () => expect(replayLog(recorded)).resolves.toHaveProperty("state"));

  it("gives the inputs, the state and the walk", async () => {
    const replayed = await replayLog(recorded);
    expect(replayed.walk).toContain("Planning --LlmFinalAnswer--> Done");
    expect(replayed.header.agent.name).toBe("paying");
    expect(replayed.state.reActContext.control.type).toBe("Done");
    expect(replayed.inputs[0]).toMatchObject({ type: "session-opened" });
  });

  it("that was cut or changed is refused", async () => {
    const cut = damaged((text) => text.slice(0, -30));
    await expect(replayLog(cut)).rejects.toMatchObject({ name: "LogError", code: "LogCorrupt" });
    await expect(replayLog(join(folder, "nowhere.jsonl"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("that has another result is reported by its first different record", async () => {
    const file = join(folder, "differs.jsonl");
    writeFileSync(file, await otherwise());
    const error = await replayLog(file).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ReplayDiffers);
    expect(error).toMatchObject({ seq: 2 });
  });
});

/** A session whose second record says that it changed something else, as a reducer that was changed without its rules would have it. */
async function otherwise(): Promise<string> {
  const log = memoryLog();
  const source = memoryLog();
  await using session = await openSession(payingAgent("keyed"), { log: source, id: "ada" });
  await session.ask("Hello");
  const { recordDigest, chainStart } = await import("@moora/event-log");
  const stored = await source.open("ada");
  if (stored === undefined) throw new Error("The session was not stored.");
  const copy = await log.create("ada", stored.header);
  let { digest } = chainStart(stored.header);
  for (const record of await stored.read()) {
    const changesDigest = record.seq === 2 ? `${rulesVersion}-of_a_change` : record.changesDigest;
    digest = recordDigest(digest, record.body);
    await copy.append(record.seq - 1, [{ ...record, changesDigest, digest }]);
  }
  return await exportSession(log, "ada");
}
