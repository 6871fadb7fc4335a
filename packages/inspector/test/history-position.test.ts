import { defineAgent, openSession, removeSession } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "@moora/server";
import { describe, expect, it } from "vitest";
import { SessionWorker } from "../src/worker/session-worker.ts";

const talker = () => defineAgent({ name: "talker", llm: new MockLlmCaller(() => answers("Hello.")) });

/** A server with one session, and the worker of a page that has opened it. */
async function scene() {
  const log = memoryLog();
  const server = createAgentServer({ agents: [talker()], log });
  const get = async (path: string): Promise<Response> =>
    await server.fetch(new Request(`http://localhost/sessions/s${path}`));
  const worker = new SessionWorker(
    () => undefined,
    async () => undefined,
  );
  const talk = async (): Promise<void> => {
    await using session = await openSession(talker(), { log, id: "s" });
    await session.ask("Hi");
  };
  await talk();
  await worker.handlers.open(await (await get("/export")).text());
  /** The status of a stream after the records of the page. */
  const statusOfStream = async (): Promise<number> => {
    const { seq, ...history } = await worker.handlers.position();
    const query = new URLSearchParams({ after: String(seq), ...history }).toString();
    const { status, body } = await get(`/events?${query}`);
    await body?.cancel();
    return status;
  };
  return {
    log,
    worker,
    talk,
    statusOfStream,
    async [Symbol.asyncDispose]() {
      await server.close();
      await log.close();
    },
  };
}

describe("the position of the records of a page", () => {
  it("continues a stream of the same history, also after records that were streamed", async () => {
    await using page = await scene();
    const { worker, log, statusOfStream, talk } = page;
    expect(await statusOfStream()).toBe(200);
    await talk();
    await using session = await openSession(talker(), { log, id: "s", access: "post" });
    const { seq } = await worker.handlers.position();
    await session.refresh();
    for (const logged of await session.history(seq))
      await worker.handlers.append([{ seq: logged.seq, body: JSON.stringify(logged.input) }]);
    expect((await worker.handlers.position()).seq).toBeGreaterThan(seq);
    expect(await statusOfStream()).toBe(200);
  });

  it("is refused by the server of a session that was removed and created again with as many records", async () => {
    await using page = await scene();
    await removeSession(page.log, "s");
    await page.talk();
    expect(await page.statusOfStream()).toBe(409);
  });
});
