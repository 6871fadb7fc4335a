import { PostgresServer } from "@moora/testbed/postgres/server";
import { Reader } from "./reader.ts";
import { whole, type ServerRow } from "./row.ts";
import { ServerProcess } from "./server-process.ts";

/** Kills the server that runs a session. Returns the time until a reader sees that another one runs it, in milliseconds. */
async function takeOver(postgresUrl: string, next: ServerProcess): Promise<number> {
  await using killed = await ServerProcess.start(postgresUrl);
  const id = await killed.createSession();
  using reader = await Reader.open(next.port, id);
  const opened = reader.sees("session-opened");
  const start = performance.now();
  void killed.kill();
  await next.post(`/sessions/${id}/messages`, { content: "Hello" });
  await opened;
  return performance.now() - start;
}

export async function measureTakeOvers(count: number): Promise<readonly ServerRow[]> {
  await using postgres = await PostgresServer.start();
  await using next = await ServerProcess.start(postgres.url);
  const times: number[] = [];
  while (times.length < count) times.push(await takeOver(postgres.url, next));
  const [least, most] = [Math.min(...times), Math.max(...times)];
  return [["take-over after a kill, on one machine", `${whole(least)} to ${whole(most)} ms`]];
}
