import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleModule, startWorkerd, StorageFolder } from "../packages/cloudflare/test/workerd.ts";

const folder = new StorageFolder();
let workerd: ReturnType<typeof startWorkerd>;

beforeAll(async () => {
  const code = await bundleModule(join(import.meta.dirname, "edge/server-object.ts"));
  workerd = startWorkerd({ code, objects: { SERVERS: "Server" }, folder: folder.path });
  await workerd.ready;
});

afterAll(async () => {
  await workerd.dispose();
  folder[Symbol.dispose]();
});

const request = (
  path: string,
  init: { method?: string; headers?: Record<string, string>; body?: string } = {},
) => workerd.dispatchFetch(`http://localhost${path}`, init);

/** The numbers of the records of a stream, and the text of its chunks, until its text contains `end`. */
async function eventsUntil(path: string, end: string, headers: Record<string, string> = {}) {
  const { body } = await request(path, { headers });
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes(end)) text += decoder.decode((await reader?.read())?.value, { stream: true });
  await reader?.cancel();
  return {
    seqs: [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq)),
    tokens: [...text.matchAll(/"part":\d+,"text":"([^"]*)"/g)].map(([, token]) => token).join(""),
  };
}

describe("a server of agents without Node, under workerd", () => {
  it("applies a repeated post once, and streams the answer with a cursor to resume after", async () => {
    const created = await request("/agents/helper/sessions", { method: "POST" });
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { readonly id: string };
    const streamed = eventsUntil(`/sessions/${id}/events`, "re-act-observed");
    const headers = { "content-type": "application/json", "idempotency-key": "first" };
    const post = {
      method: "POST",
      headers,
      body: JSON.stringify({ content: "What is the capital of Norway?" }),
    };
    const first = await request(`/sessions/${id}/messages`, post);
    const repeated = await request(`/sessions/${id}/messages`, post);
    expect(await first.json()).toEqual({ status: "accepted", seq: 2 });
    expect(await repeated.json()).toEqual({ status: "accepted", seq: 2 });
    expect(await streamed).toEqual({ seqs: [1, 2, 3, 4], tokens: "It is Oslo." });
    const resumed = eventsUntil(`/sessions/${id}/events`, "re-act-observed", { "last-event-id": "2" });
    expect((await resumed).seqs).toEqual([3, 4]);
  });
});
