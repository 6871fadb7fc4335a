import type { ChildProcess } from "node:child_process";
import { defineAgent, effectsAt, effectToQuestion, type AgentState, type Question } from "@moora/agent";
import { answers, fails, MockLlmCaller } from "@moora/llm/testing";
import { thirtyDays } from "@moora/testbed/asking-agent";
import { freePort } from "@moora/testbed/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restateSession, type RestateSession } from "../src/index.ts";
import { expectSound, serveLocally } from "./local-service.ts";
import { RestateServer } from "./restate-server.ts";
import { killProcess, startServiceProcess } from "./service-process.ts";

/** Long enough to kill a process meanwhile. */
const expiresAfterMs = 3_000;

const patience = { timeout: 60_000 };

let server: RestateServer;
let port: number;
let service: ChildProcess;

const serve = (): Promise<ChildProcess> =>
  startServiceProcess("deadlines.ts", [port, server.ingressUrl, expiresAfterMs]);

beforeAll(async () => {
  [server, port] = await Promise.all([RestateServer.start(), freePort()]);
  service = await serve();
  await server.register(`http://127.0.0.1:${port}`);
});

afterAll(async () => {
  await killProcess(service);
  await server[Symbol.asyncDispose]();
});

const sessionOf = (agent: string, id: string): RestateSession =>
  restateSession({ ingressUrl: server.ingressUrl, agent, id });

const deadlineAt = (state: AgentState): number | undefined =>
  Object.values(effectsAt(state)).find((effect) => effect.type === "wait-until")?.due;

/** Sends a message, and resolves with the time at which the question about it expires. */
async function askForDeadline(session: RestateSession): Promise<number> {
  await session.send("Pay.");
  const dueNow = async () =>
    deadlineAt((await session.current())?.state ?? expect.fail("There is no session."));
  await expect.poll(dueNow, patience).toBeGreaterThan(0);
  return (await dueNow()) ?? Number.NaN;
}

/** Expects the question of a session to expire at this time, once. */
async function checkExpiry(session: RestateSession, id: string, due: number): Promise<void> {
  const control = async () => (await session.current())?.state.reActContext.control.type;
  await expect.poll(control, patience).toBe("Done");
  expect(Date.now()).toBeGreaterThanOrEqual(due);
  const calls = Object.values((await session.current())?.state.toolCalls ?? {});
  expect(calls.map(({ result }) => result)).toMatchObject([{ isSuccess: false, code: "expired" }]);
  const opened = await (await session.toLog()).open(id);
  const bodies = (await opened?.read())?.map(({ body }) => body) ?? [];
  expect(bodies.filter((body) => body.includes('"deadline-passed"'))).toHaveLength(1);
  await expectSound(session, id);
}

interface Invocation {
  readonly status: string;
  readonly scheduled_start_at: string | null;
}

/** The invocations of the timers of a session, as Restate shows them. */
const timersOf = (agent: string, id: string): Promise<readonly Invocation[]> =>
  server.query(
    `SELECT * FROM sys_invocation WHERE target_service_name = '${agent}-session' AND target_service_key = '${id}' AND target_handler_name = 'expire'`,
  );

it("asks a model again after the part of a millisecond that its provider wants", async () => {
  const llm = new MockLlmCaller([fails("rate-limit", { retryAfterMs: 812.5 }), answers("Done.")]);
  await using _ = await serveLocally(server, defineAgent({ name: "limited", llm }));
  expect((await sessionOf("limited", "again").ask("Hello.")).text).toBe("Done.");
});

describe("a question on Restate, by the clock of the system", () => {
  it("expires once", async () => {
    const session = sessionOf("brief", "expires");
    await checkExpiry(session, "expires", await askForDeadline(session));
  });

  it("expires once when it became due while no process with the agent ran", async () => {
    const session = sessionOf("brief", "no-service");
    const due = await askForDeadline(session);
    await killProcess(service);
    const statusOfTimer = async () => (await timersOf("brief", "no-service")).map(({ status }) => status);
    await expect.poll(statusOfTimer, patience).toEqual(["backing-off"]);
    expect(Date.now()).toBeGreaterThanOrEqual(due);
    service = await serve();
    await checkExpiry(session, "no-service", due);
  });

  it("expires once when it became due while the server of Restate did not run", async () => {
    const session = sessionOf("brief", "no-server");
    const due = await askForDeadline(session);
    await server.kill();
    await expect.poll(() => Date.now(), patience).toBeGreaterThan(due);
    await server.start();
    await checkExpiry(session, "no-server", due);
  });

  it("waits for 30 days, as Restate shows, also when its server and its process are killed, and is answered then", async () => {
    const session = sessionOf("patient", "month");
    const due = await askForDeadline(session);
    expect(due - Date.now()).toBeGreaterThan(thirtyDays - 600_000);
    await Promise.all([server.kill(), killProcess(service)]);
    await server.start();
    service = await serve();
    const [timer, ...others] = await timersOf("patient", "month");
    expect([timer?.status, others]).toEqual(["scheduled", []]);
    expect(Math.abs(Date.parse(timer?.scheduled_start_at ?? "") - due)).toBeLessThan(60_000);
    const question = questionAt((await session.current())?.state ?? expect.fail("There is no session."));
    expect(await session.decide(question, "approve")).toBe(true);
    const results = async () =>
      Object.values((await session.current())?.state.toolCalls ?? {}).map(({ result }) => result?.isSuccess);
    await expect.poll(results, patience).toEqual([true]);
    await expect.poll(() => timersOf("patient", "month"), patience).toEqual([]);
  });
});

function questionAt(state: AgentState): Question {
  const effect = Object.values(effectsAt(state)).find(({ type }) => type === "ask-human");
  const question = effect?.type === "ask-human" ? effectToQuestion(effect, state) : undefined;
  return question ?? expect.fail("The session asks no question.");
}
