/**
 * Many sessions at once on Restate with 1, 4 and 8 partitions: each session has to end, to run each of its tools once, and to have
 * records that verify.
 *
 *   restate-partitions.ts [--sessions N]
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { userMessage, verifySession } from "@moora/agent";
import { restateLog, restateSession, type RestateSession } from "@moora/restate";
import { serveLocally } from "../packages/restate/test/local-service.ts";
import { RestateServer } from "../packages/restate/test/restate-server.ts";
import { conclude } from "./parts/summary.ts";
import { newWork, workingAgent, type Work } from "./restate-partitions/work.ts";

const startedAt = performance.now();
const { values } = parseArgs({ options: { sessions: { type: "string", default: "400" } } });
const count = Number(values.sessions);
const atOnce = 32;
const ids = Array.from({ length: count }, (_, index) => `session-${index}`);
const failures: string[] = [];

/** Runs work for each id, of which so many at once. */
async function forEachId(work: (id: string) => Promise<void>): Promise<void> {
  const left = [...ids];
  const worker = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await work(id);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const sessionOn = ({ ingressUrl }: RestateServer, id: string): RestateSession =>
  restateSession({ ingressUrl, agent: "worker", id });

/** Resolves when all sessions have their answer, and no invocation is open. Reads nothing of the sessions, which would be invocations. */
async function untilIdle(server: RestateServer, work: Work): Promise<void> {
  const open = "SELECT count(*) AS n FROM sys_invocation WHERE status <> 'completed'";
  while (work.answered < count || (await sum(server, open)) > 0) await pause(100);
}

async function sum(server: RestateServer, query: string): Promise<number> {
  const [row] = await server.query<{ readonly n: number }>(query);
  return row?.n ?? 0;
}

/** Resolves when all partitions answer. */
async function untilUp(server: RestateServer): Promise<void> {
  const answers = (): Promise<boolean> =>
    sum(server, "SELECT count(*) AS n FROM state").then(
      () => true,
      () => false,
    );
  while (!(await answers())) await pause(100);
}

/** The number of sessions in each partition: each has an equal part of all keys, of 64 bits. */
async function spread(server: RestateServer, partitions: number): Promise<readonly number[]> {
  const rows = await server.query<{ readonly key: number }>(
    "SELECT DISTINCT partition_key AS key FROM state",
  );
  const found = Array.from({ length: partitions }, () => 0);
  for (const { key } of rows) {
    const at = Math.min(partitions - 1, Math.floor((key / 2 ** 64) * partitions));
    found[at] = (found[at] ?? 0) + 1;
  }
  return found;
}

/** Checks that a session has ended, and that its records are sound. */
async function check(server: RestateServer, id: string): Promise<void> {
  const session = sessionOn(server, id);
  const { state } = (await session.current()) ?? {};
  const control = state?.reActContext.control.type;
  if (control !== "Done") failures.push(`${id}: ${control ?? "missing"}, not Done`);
  const report = await verifySession(await session.toLog(), id);
  if (!report.ok) failures.push(`${id}: ${report.message}`);
}

/** Checks that all sessions are listed, and that each of their tools ran once. */
async function checkAll(server: RestateServer, work: Work): Promise<void> {
  await forEachId((id) => check(server, id));
  const { ingressUrl, adminUrl } = server;
  const log = restateLog({ ingressUrl, adminUrl, agent: "worker" });
  const listed = new Set((await log.list()).map(({ id }) => id));
  await log.close();
  for (const id of ids) if (!listed.has(id)) failures.push(`${id} is not listed`);
  const repeated = [...work.runs].filter(([, runs]) => runs !== 1);
  for (const [key, runs] of repeated) failures.push(`${key} ran ${runs} times`);
  if (work.runs.size !== 2 * count) failures.push(`${work.runs.size} calls ran, not ${2 * count}`);
}

async function prove(partitions: number): Promise<void> {
  const begun = failures.length;
  await using server = await RestateServer.start({ partitions });
  const work = newWork();
  await using _ = await serveLocally(server, workingAgent(work));
  await untilUp(server);
  const startedMs = performance.now();
  await forEachId(async (id) => {
    if (!(await sessionOn(server, id).post(userMessage("Work.")))) failures.push(`${id}: not posted`);
  });
  await untilIdle(server, work);
  const seconds = (performance.now() - startedMs) / 1_000;
  const inPartitions = await spread(server, partitions);
  if (inPartitions.includes(0)) failures.push(`${partitions} partitions: one has no session`);
  await checkAll(server, work);
  const found = failures.length - begun;
  console.log({ partitions, seconds: Math.round(seconds), inPartitions, failures: found });
}

for (const partitions of [1, 4, 8]) await prove(partitions);
for (const failure of failures.slice(0, 20)) console.log(`FAILED ${failure}`);
conclude({ proof: "restate-partitions", cases: 3 * count, failures: failures.length }, startedAt);
