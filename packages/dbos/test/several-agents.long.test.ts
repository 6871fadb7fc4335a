import { verifySession } from "@moora/agent";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentsOrders } from "./children/agents.ts";
import { HostProcess } from "./host-process.ts";
import { isDone, message, Scene } from "./support.ts";

let scene: Scene;
let processes: HostProcess[];

beforeEach(async () => {
  scene = await Scene.start();
  processes = [];
}, 60_000);

afterEach(async () => {
  for (const one of processes) await one[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

function start(executor: string, orders: Partial<AgentsOrders>): HostProcess {
  const base = { url: scene.url, executor, agents: ["one", "two"], holds: false };
  const started = new HostProcess("agents.ts", { ...base, ...orders });
  processes.push(started);
  return started;
}

async function launch(executor: string, orders: Partial<AgentsOrders> = {}): Promise<HostProcess> {
  const launched = start(executor, orders);
  await launched.launched();
  return launched;
}

/** Posts to sessions of a process whose tools never end, and kills it when all of them have begun. */
async function killWhileToolsRun(host: HostProcess, ids: readonly string[]): Promise<void> {
  for (const id of ids) await host.post(id, message("Work."));
  await host.prints(new RegExp(`(began\\s[^]*){${ids.length}}`));
  await host.kill();
}

/** Whether the log of each session is whole, when all of them have ended. */
async function wholeWhenDone(ids: readonly string[]): Promise<readonly boolean[]> {
  const whole: boolean[] = [];
  for (const id of ids) {
    await scene.until(id, isDone);
    whole.push((await verifySession(scene.log, id)).ok);
  }
  return whole;
}

describe("hosts of several agents that take over", { timeout: 240_000 }, () => {
  it("run in one process, and another one continues the sessions of all of them", async () => {
    const killed = await launch("killed", { holds: true });
    await launch("next");
    const ids = ["one-1", "two-1", "one-2", "two-2"];
    await killWhileToolsRun(killed, ids);
    expect(await wholeWhenDone(ids)).toEqual(ids.map(() => true));
  });

  it("continue their sessions in a process with the same agent, beside one with another agent", async () => {
    const ofOne = { agents: ["one"], listenQueues: ["moora.one"] };
    const killed = await launch("killed", { ...ofOne, holds: true });
    await launch("other", { agents: ["two"], listenQueues: ["moora.two"] });
    await launch("next", ofOne);
    const ids = ["one-1", "one-2", "one-3"];
    await killWhileToolsRun(killed, ids);
    expect(await wholeWhenDone(ids)).toEqual(ids.map(() => true));
  });

  it("are refused in a process with the executor id of another one, also with another agent", async () => {
    await launch("same", { agents: ["one"] });
    const second = start("same", { agents: ["two"] });
    const [, error] = await second.prints(/^failed (.*)$/m);
    expect(error).toContain('Another process has the executor id "same".');
  });
});
