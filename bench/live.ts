/** What tokens cost that reach viewers at another server: two servers in this process, on one PostgreSQL. Takes about 20 seconds. */
import { defineAgent } from "@moora/agent";
import { readServerSentEvents } from "@moora/agent-webui-protocol/server-sent-events";
import { postgresLog } from "@moora/event-log-postgres";
import type { LlmCaller } from "@moora/llm";
import { answers } from "@moora/llm/testing";
import { createAgentServer, type AgentServer } from "@moora/server";
import { PostgresServer } from "@moora/testbed/postgres/server";
import { quantile } from "./harness/statistics.ts";
import { table } from "./harness/table.ts";
import { machineText } from "./packed/machine-text.ts";

const tokenMs = 20;
const tokensOfEach = 150;
const tokenText = "four";

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** A model that streams a token every 20 ms. `sentAt` has the time of each, by call. */
class SteadyModel implements LlmCaller {
  readonly name = "steady";
  readonly sentAt: number[][] = [];

  async call(...[, options = {}]: Parameters<LlmCaller["call"]>): ReturnType<LlmCaller["call"]> {
    const times: number[] = [];
    this.sentAt.push(times);
    for (let count = 0; count < tokensOfEach; count += 1) {
      await pause(tokenMs);
      times.push(performance.now());
      options.onChunk?.({ type: "text", text: tokenText });
    }
    return answers(tokenText.repeat(tokensOfEach));
  }
}

const request = (path: string, method = "GET", body?: object): Request =>
  new Request(`http://localhost${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** A response that is a success. A figure without some of the sessions would be one of less work. */
async function fetched(server: AgentServer, ...about: Parameters<typeof request>): Promise<Response> {
  const response = await server.fetch(request(...about));
  if (response.ok) return response;
  throw new Error(`${about[0]} was answered with ${response.status}: ${await response.text()}`);
}

/** Reads the stream of a session to the end of its answer. Returns when each token arrived. */
async function arrivals(server: AgentServer, id: string): Promise<readonly number[]> {
  const { body } = await fetched(server, `/sessions/${id}/events`);
  const times: number[] = [];
  if (body === null) return times;
  for await (const { event, data } of readServerSentEvents(body)) {
    const now = performance.now();
    if (event === "chunk" && data.includes('"type":"text"')) {
      const count = data.split(tokenText).length - 1;
      for (let token = 0; token < count; token += 1) times.push(now);
    }
    if (data.includes('"re-act-observed"')) break;
  }
  return times;
}

const inMs = (ms: number): string => `${ms.toFixed(1)} ms`;

/** Lets sessions of the first server answer, with a viewer of each at the other one or at the same. */
async function measure(url: string, sessions: number, isFar: boolean): Promise<readonly string[]> {
  const model = new SteadyModel();
  const agent = defineAgent({ name: "talker", llm: model });
  const logs = [postgresLog(url), postgresLog(url)];
  const [near, far] = logs.map((log) => createAgentServer({ agents: [agent], log }));
  if (near === undefined || far === undefined) throw new Error("Two servers are needed.");
  const ids: string[] = [];
  while (ids.length < sessions) {
    const created = await fetched(near, "/agents/talker/sessions", "POST");
    ids.push(String(Reflect.get(Object(await created.json()), "id")));
  }
  const reading = ids.map((id) => arrivals(isFar ? far : near, id));
  await pause(1_000);
  const cpu = process.cpuUsage();
  // One after the other, so that the calls of the model are in the order of the sessions.
  for (const id of ids) await fetched(near, `/sessions/${id}/messages`, "POST", { content: "Hello" });
  const arrived = await Promise.all(reading);
  const used = process.cpuUsage(cpu);
  const delays = arrived.flatMap((times, session) =>
    times.map((time, token) => time - (model.sentAt[session]?.[token] ?? NaN)),
  );
  for (const server of [near, far]) await server.close();
  for (const log of logs) await log.close();
  const microseconds = (used.user + used.system) / (sessions * tokensOfEach);
  return [
    `${sessions} sessions, viewers at ${isFar ? "the other server" : "the same server"}`,
    `${delays.length} of ${sessions * tokensOfEach}`,
    inMs(quantile(delays, 0.5)),
    inMs(quantile(delays, 0.99)),
    `${microseconds.toFixed(0)} µs`,
  ];
}

await using postgres = await PostgresServer.start({ isDurable: true });
const rows: (readonly string[])[] = [];
for (const sessions of [1, 40])
  for (const isFar of [false, true]) rows.push(await measure(postgres.url, sessions, isFar));
console.log(machineText());
console.log(
  table(["what", "tokens that arrived live", "median delay", "99 %", "processor time per token"], rows),
);
