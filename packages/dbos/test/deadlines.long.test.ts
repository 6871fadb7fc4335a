import {
  decisionToInput,
  effectsAt,
  effectToQuestion,
  stateAt,
  verifySession,
  type AgentInput,
  type AgentState,
  type EventLog,
} from "@moora/agent";
import { defaultRunLimits } from "@moora/agent-core-effects";
import { postgresLog } from "@moora/event-log-postgres";
import { thirtyDays } from "@moora/testbed/asking-agent";
import { poolOn } from "@moora/testbed/postgres/server";
import { createDatabase } from "@moora/testbed/postgres/database";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { DeadlineOrders } from "./children/deadlines.ts";
import { HostProcess } from "./host-process.ts";
import { message } from "./support.ts";

/** Long enough to kill a process meanwhile. */
const expiresAfterMs = 3_000;

const patience = { timeout: 60_000 };

let url: string;
let log: EventLog;
let pool: ReturnType<typeof poolOn>;

beforeAll(async () => {
  url = await createDatabase(inject("postgresUrl"));
  log = postgresLog(url);
  pool = poolOn(url);
});

afterAll(async () => {
  await log.close();
  await pool.end();
});

async function launch(orders: Partial<DeadlineOrders> = {}): Promise<HostProcess> {
  const all: DeadlineOrders = { url, executor: "one", expiresAfterMs, ...orders };
  const launched = new HostProcess("deadlines.ts", all);
  await launched.launched();
  return launched;
}

const stateOf = async (id: string): Promise<AgentState> => (await stateAt(log, id)).state;

const resultsOf = async (id: string): Promise<readonly unknown[]> =>
  Object.values((await stateOf(id)).toolCalls).map(({ result }) =>
    result?.isSuccess === false ? result.code : result?.isSuccess,
  );

/** Posts a message, and resolves with the time at which the question about it expires. */
async function askForDeadline(host: HostProcess, id: string): Promise<number> {
  await host.post(id, message("Pay."));
  const dueNow = async () =>
    Object.values(effectsAt(await stateOf(id))).find((effect) => effect.type === "wait-until")?.due;
  await expect.poll(dueNow, patience).toBeGreaterThan(0);
  // Until the sleep is durable, nothing but the log has the time.
  await expect.poll(() => sleepsUntil(id), patience).toHaveLength(1);
  return (await dueNow()) ?? Number.NaN;
}

/** The times at which DBOS continues the sleeping workflows of a session. */
async function sleepsUntil(id: string): Promise<readonly number[]> {
  const { rows } = await pool.query<{ readonly output: string }>(
    "SELECT output FROM dbos.operation_outputs WHERE function_name = 'DBOS.sleep' AND workflow_uuid LIKE $1",
    [`${id}/%`],
  );
  return rows.map(({ output }) => Number(JSON.parse(output)));
}

/** Expects the question of a session to expire at this time, once. */
async function checkExpiry(id: string, due: number): Promise<void> {
  await expect.poll(() => resultsOf(id), patience).toEqual(["expired"]);
  expect(Date.now()).toBeGreaterThanOrEqual(due);
  const control = async () => (await stateOf(id)).reActContext.control.type;
  await expect.poll(control, patience).toBe("Done");
  const bodies = (await (await log.open(id))?.read())?.map(({ body }) => body) ?? [];
  expect(bodies.filter((body) => body.includes('"deadline-passed"'))).toHaveLength(1);
  expect(await verifySession(log, id)).toMatchObject({ ok: true });
}

async function approvalOf(id: string): Promise<AgentInput> {
  const state = await stateOf(id);
  const effect = Object.values(effectsAt(state)).find(({ type }) => type === "ask-human");
  const question = effect?.type === "ask-human" ? effectToQuestion(effect, state) : undefined;
  return decisionToInput(question ?? expect.fail("The session asks no question."), "approve", {
    by: "reviewer",
    timestamp: Date.now(),
    digestOfChange: () => "",
    maxResultLength: defaultRunLimits.maxResultLength,
  });
}

describe("a question on DBOS, by the clock of the system", () => {
  it("expires once", async () => {
    await using host = await launch();
    await checkExpiry("expires", await askForDeadline(host, "expires"));
  });

  it.each([
    ["the same process is launched again", "one"],
    ["another process takes over", "two"],
  ])("expires once when it became due while no process ran, and %s", async (_, executor) => {
    const id = `no-process-${executor}`;
    const killed = await launch();
    const due = await askForDeadline(killed, id);
    await killed.kill();
    await expect.poll(() => Date.now(), patience).toBeGreaterThan(due);
    await using next = await launch({ executor });
    await checkExpiry(id, due);
    expect(next.output).toContain("launched");
  });

  it("waits for 30 days, as the tables of DBOS show, also when its process is killed, and is answered then", async () => {
    const orders = { executor: "patient", expiresAfterMs: thirtyDays };
    const killed = await launch(orders);
    const due = await askForDeadline(killed, "month");
    expect(due - Date.now()).toBeGreaterThan(thirtyDays - 600_000);
    await killed.kill();
    await using host = await launch(orders);
    const [until = 0, ...others] = await sleepsUntil("month");
    expect(others).toEqual([]);
    expect(Math.abs(until - due)).toBeLessThan(60_000);
    expect(await host.post("month", await approvalOf("month"))).toBe(true);
    await expect.poll(() => resultsOf("month"), patience).toEqual([true]);
  });
});
