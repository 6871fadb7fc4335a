import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { byName, Scene, type Client } from "@moora/testbed/server/scene";
import { pollsUntil } from "./support.ts";

const talker = () => agentOf(() => answers("Hello."));

/** Users with names; "scraper" may read the metrics. */
const authorize = (request: Request) => {
  const grant = byName(request);
  return grant && { ...grant, mayReadMetrics: grant.user === "scraper" };
};

/** The values of the text format of Prometheus, by series. Rejects a line of another form. */
async function metricsOf(client: Client): Promise<Readonly<Record<string, number>>> {
  const response = await client.send("/metrics", {});
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const types = new Map<string, string>();
  const values: Record<string, number> = {};
  const text = await response.text();
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.split("\n").slice(0, -1)) {
    const [, word, name = "", rest = ""] = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line) ?? [];
    if (word === "TYPE") types.set(name, rest);
    if (word !== undefined) continue;
    const sample = /^([a-z_]+)(\{[a-z_]+="[^"\\\n]*"(?:,[a-z_]+="[^"\\\n]*")*\})? (\d+)$/.exec(line);
    if (sample === null) throw new Error(`Not a sample: ${line}`);
    const [, family = "", labels = "", value] = sample;
    expect(types.get(family)).toBe(family.endsWith("_total") ? "counter" : "gauge");
    values[family + labels] = Number(value);
  }
  return values;
}

describe("the metrics of a server", () => {
  it("count sessions, streams, posts by result, and responses", async () => {
    await using scene = new Scene(talker(), { metrics: true, authorize });
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    await stream.until("re-act-observed");
    await ada.post(`/sessions/${id}/cancel`);
    await ada.post(`/sessions/${id}/data`, { patches: [{ op: "add", path: "/a", value: 1 }] });
    await ada.get("/nothing");
    expect(await metricsOf(scene.as("scraper"))).toMatchObject({
      moora_open_sessions: 1,
      moora_open_streams: 1,
      'moora_posts_total{kind="messages",result="accepted"}': 1,
      'moora_posts_total{kind="cancel",result="ignored"}': 1,
      'moora_posts_total{kind="data",result="failed"}': 1,
      'moora_http_responses_total{status="201"}': 1,
      'moora_http_responses_total{status="404"}': 1,
    });
  });

  it("count posts of chats", async () => {
    await using scene = new Scene(talker(), { metrics: true, authorize });
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] };
    const { send } = scene.as("ada");
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ id: "chat-1", messages: [message] });
    await (await send("/agents/helper/chat", { method: "POST", headers, body })).text();
    expect(await metricsOf(scene.as("scraper"))).toMatchObject({
      'moora_posts_total{kind="messages",result="accepted"}': 1,
      moora_open_streams: 0,
    });
  });

  it("count readers that took nothing and were dropped", async () => {
    const clock = new TestClock();
    await using scene = new Scene(talker(), { metrics: true, authorize, clock });
    const ada = scene.as("ada");
    const id = await ada.create();
    await ada.send(`/sessions/${id}/events`, {});
    await clock.advanceAsync(30_000);
    expect(await metricsOf(scene.as("scraper"))).toMatchObject({
      moora_streams_dropped_total: 1,
      moora_open_streams: 0,
    });
  });

  it("count sessions that were taken over", async () => {
    const clock = new TestClock();
    await using first = new Scene(talker(), { clock });
    await using second = new Scene(talker(), { clock, log: first.log, metrics: true, authorize });
    const id = await first.as("ada").create();
    await using stream = await second.as("ada").events(id);
    await stream.until("session-opened");
    await first.server.close();
    await clock.advanceAsync(1_000);
    await pollsUntil(clock, async () =>
      expect(await metricsOf(second.as("scraper"))).toMatchObject({ moora_takeovers_total: 1 }),
    );
  });

  it("are not for every user, and not there unless they are switched on", async () => {
    await using on = new Scene(talker(), { metrics: true, authorize });
    await using off = new Scene(talker(), { authorize });
    expect((await on.as("ada").get("/metrics")).status).toBe(403);
    expect((await on.server.fetch(new Request("http://localhost/metrics"))).status).toBe(401);
    expect((await off.as("scraper").get("/metrics")).status).toBe(404);
  });

  it("are for the local user of a server without authorize", async () => {
    await using scene = new Scene(talker(), { metrics: true, authorize: null });
    expect(await metricsOf(scene.as("local"))).toMatchObject({ moora_open_sessions: 0 });
  });
});
