import { memoryLog } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import {
  exportSession,
  importSession,
  openSession,
  parsePortable,
  stateAt,
  verifySession,
} from "../../src/index.ts";
import { call } from "@moora/testbed/durable/counting-agent";
import { driveToEnd } from "@moora/testbed/durable/drive";
import { storageOf, storeNames } from "@moora/testbed/durable/places";
import { sceneOf } from "@moora/testbed/durable/scene";
import { approveAll, recordsOf, recordSession } from "./record-session.ts";

const script = [[call("look"), call("pay")], [call("echo")]];
const config = { approval: { policy: { tools: ["pay"] } } } as const;

async function portable(): Promise<string> {
  const scene = sceneOf(script, config);
  await recordSession(scene, ["Ünïcödé 🙂\n\u2028 and more."]);
  return await exportSession(scene.log(), "ada");
}

describe("a portable session", () => {
  it.each(storeNames)(
    "goes into %s and out again with the same bytes, and is the same session",
    async (name) => {
      const scene = sceneOf(script, config);
      await recordSession(scene);
      const text = await exportSession(scene.log(), "ada");
      await using storage = storageOf(name);
      const log = storage.open();
      const records = await recordsOf(scene.log());
      expect(await importSession(log, text)).toEqual({ id: "ada", seq: records.length });
      expect(await recordsOf(storage.open())).toEqual(records);
      expect(await exportSession(log, "ada")).toBe(text);
      expect(await verifySession(log, "ada")).toMatchObject({ ok: true });
      expect((await stateAt(log, "ada")).state).toEqual((await stateAt(scene.log(), "ada")).state);
    },
  );

  it("continues where it was interrupted, under another id, with its question still to be answered", async () => {
    const scene = sceneOf(script, config);
    await recordSession(scene, ["Please."], () => Promise.resolve());
    const log = memoryLog();
    await importSession(log, await exportSession(scene.log(), "ada"), "moved");
    await using session = await openSession(scene.agent, { log, id: "moved", clock: scene.clock });
    expect(session.questions()).toHaveLength(1);
    await driveToEnd(session, { says: ["Please."], decide: () => "approve" }, scene.clock);
    expect(session.current().reActContext.control.type).toBe("Done");
  });

  it("says of a call that was approved and had not begun that it did not run, with a sound record", async () => {
    const scene = sceneOf(script, config);
    await recordSession(scene, ["Please."], () => Promise.resolve());
    // It is approved while no process runs the session.
    const poster = await scene.post();
    await approveAll(poster);
    const { seq: decided } = poster.info();
    await poster.close();
    const log = scene.log();
    const { seq } = await importSession(log, await exportSession(log, "ada", decided), "copy");
    expect(seq).toBe(decided + 1);
    expect(await verifySession(log, "copy")).toMatchObject({ ok: true, seq });
    expect((await stateAt(log, "copy")).state.toolCalls["call_2"]?.result).toMatchObject({
      isSuccess: false,
      code: "not-run",
      error: "Not run: the conversation was imported here.",
    });
  });

  it("is refused when it was cut anywhere, with the last record that is whole", async () => {
    const text = await portable();
    const lines = text.split("\n");
    for (let kept = 0; kept < lines.length - 1; kept += 1) {
      const cut = lines
        .slice(0, kept)
        .map((line) => `${line}\n`)
        .join("");
      expect(() => parsePortable(cut), `${kept} lines`).toThrow(
        expect.objectContaining({ code: "LogCorrupt", seq: expect.any(Number) }),
      );
    }
    for (let length = text.length - 1; length > 0; length -= 97) {
      expect(() => parsePortable(text.slice(0, length)), `${length} characters`).toThrow(
        expect.objectContaining({ code: "LogCorrupt" }),
      );
    }
  });

  it("is refused when any of its characters is another, at the place where it is", async () => {
    const text = await portable();
    const places: [number, number][] = [];
    let line = 0;
    for (let at = 0; at < text.length; at += 1) {
      if (at % 13 === 0 && text[at] !== "\n") places.push([at, line]);
      if (text[at] === "\n") line += 1;
    }
    expect(places.length).toBeGreaterThan(300);
    for (const [at, inLine] of places) {
      const other = text[at] === "0" ? "1" : "0";
      const damaged = `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
      let problem: unknown;
      try {
        parsePortable(damaged);
      } catch (error) {
        problem = error;
      }
      expect(problem, `character ${at}`).toMatchObject({ code: "LogCorrupt" });
      // What only the seal reveals is reported at the end; no damage is reported before its position.
      expect(Number(Object(problem).seq), `character ${at}`).toBeGreaterThanOrEqual(
        Math.min(inLine, 1) * inLine - 1,
      );
    }
  });

  it("is refused when records were left out, doubled or swapped", async () => {
    const lines = (await portable()).split("\n");
    const damaged = [
      lines.toSpliced(3, 1),
      lines.toSpliced(3, 0, lines[3] ?? ""),
      lines.with(3, lines[4] ?? "").with(4, lines[3] ?? ""),
    ];
    for (const some of damaged) {
      expect(() => parsePortable(some.join("\n"))).toThrow(
        expect.objectContaining({ code: "LogCorrupt", seq: expect.any(Number) }),
      );
    }
  });

  it.each([
    ["", "LogCorrupt"],
    ["\n", "LogCorrupt"],
    ["[]\n{}\n", "LogCorrupt"],
    ["null\nnull\n", "LogCorrupt"],
    [`${"[".repeat(100_000)}\n`, "LogCorrupt"],
  ])("is not this: %.10j", (text, code) => {
    expect(() => parsePortable(text)).toThrow(expect.objectContaining({ code }));
  });

  it("does not go over another session, and leaves nothing behind where it is refused", async () => {
    const text = await portable();
    const log = memoryLog();
    await importSession(log, text);
    await expect(importSession(log, text)).rejects.toMatchObject({ code: "LogExists" });
    await expect(importSession(log, text.slice(0, -9), "cut")).rejects.toMatchObject({ code: "LogCorrupt" });
    expect((await log.list()).map(({ id }) => id)).toEqual(["ada"]);
  });
});
