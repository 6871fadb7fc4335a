import { memoryLog } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import { defineAgent, openSession } from "../../src/index.ts";
import { callsThenAnswers, never, resultOf, turns } from "../restarts/restarts.ts";
import { failureOf, toolOf } from "../support.ts";
import { Gates, remoteLog } from "./world/remote-log.ts";
import { VirtualClock } from "./world/virtual-clock.ts";

describe("a cancel that is committed together with the start of a call", () => {
  it("keeps the tool from running, and the call has one result", async () => {
    const ran: string[] = [];
    const pay = toolOf("pay", () => {
      ran.push("pay");
      return never();
    });
    const gates = new Gates();
    const log = remoteLog(memoryLog(), gates.pass);
    const agent = defineAgent({ llm: callsThenAnswers({ name: "pay" }), tools: [pay] });
    const clock = new VirtualClock();
    const session = await openSession(agent, { log, id: "ada", clock, onError: () => undefined });
    const gate = gates.hold("append", "there", "tool-call-started");
    const failure = failureOf(session.ask("go"));
    // The log is unreachable when the call starts. The start is kept, and appended with the next input.
    await gate.reached;
    gates.isDown = true;
    gate.break();
    await turns();
    gates.isDown = false;
    expect(await session.cancel()).toMatchObject({ status: "accepted" });
    expect(await failure).toMatchObject({ kind: "Cancelled" });
    await turns();
    expect(gates.appends).toContainEqual(["tool-call-started", "re-act-cancelled"]);
    expect(ran).toEqual([]);
    expect(resultOf(session.current())).toMatchObject({ isSuccess: false, code: "cancelled-after-start" });
    await session.close();
  });
});
