import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import type { Connection, Grant } from "../src/index.ts";
import {
  describedRoutes,
  everyRoute,
  requestedRoutes,
  requestsTo,
  routesOfSession,
  type RouteRequest,
} from "./every-route.ts";
import { byName, Scene } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

const talker = () => agentOf(() => answers("Hello."));

const request = (
  path: string,
  {
    method = "GET",
    body,
    headers = {},
  }: { method?: string; body?: object; headers?: Readonly<Record<string, string>> } = {},
): Request =>
  new Request(`http://localhost${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** Sends a request, and returns what its sender can compare. */
const sentTo = async (
  scene: Scene,
  [method, path, body]: RouteRequest,
  headers: Readonly<Record<string, string>> = {},
) => await shownOf(await scene.server.fetch(request(path, { method, headers, ...(body && { body }) })));

/** The parts of a response that a client can compare. */
const shownOf = async (response: Response) => ({
  status: response.status,
  headers: [...response.headers],
  body: await response.text(),
});

describe("every route of the description", () => {
  it("has a request in these tests, and no other has one", async () => {
    await using scene = new Scene(talker(), everyRoute);
    const names = (await describedRoutes(scene)).map(({ name }) => name);
    expect(names.toSorted()).toEqual(requestedRoutes.toSorted());
  });
});

describe("a foreign session", () => {
  it("gets the same answer on every route as one that does not exist, and as a guessed id", async () => {
    await using scene = new Scene(talker());
    const id = await scene.as("ada").create();
    const guesses = [`s_${"A".repeat(24)}`, "", "x", id.toUpperCase(), `${id}x`, id.slice(0, -1)].filter(
      (guess) => guess !== "",
    );
    const answersTo = async (own: string) => {
      const shown = [];
      for (const sent of routesOfSession(own))
        shown.push(await sentTo(scene, sent, { authorization: "Bearer eve" }));
      return shown;
    };
    const foreign = await answersTo(id);
    expect(new Set(foreign.map(({ status }) => status))).toEqual(new Set([404]));
    for (const guess of guesses) expect(await answersTo(guess)).toEqual(foreign);
    expect((await scene.as("ada").get(`/sessions/${id}`)).status).toBe(200);
  });

  it("is an unknown chat, and no request about it changes it, on any route", async () => {
    await using scene = new Scene(talker(), everyRoute);
    const id = await scene.as("ada").create();
    await using stream = await scene.as("ada").events(id);
    await stream.until("session-opened");
    const before = await sentTo(scene, ["GET", `/sessions/${id}/export`], { authorization: "Bearer ada" });
    const eve = { authorization: "Bearer eve" };
    const readChat = ["GET /agents/{agent}/chat/{id}", "GET /agents/{agent}/chat/{id}/stream"];
    const [foreign, unknown] = [id, "unknown"].map((chat) =>
      Promise.all(requestsTo(readChat, chat).map((sent) => sentTo(scene, sent, eve))),
    );
    expect(await foreign).toEqual(await unknown);
    for (const sent of requestsTo(requestedRoutes, id)) {
      const { body } = await sentTo(scene, [sent[0], sent[1], sent[2]], eve);
      expect(body, sent[1]).not.toContain('"user":"ada"');
    }
    const after = await sentTo(scene, ["GET", `/sessions/${id}/export`], { authorization: "Bearer ada" });
    expect(after.body).toBe(before.body);
  });

  it("is asked about once for each right, up to the first one that is missing", async () => {
    const asked: string[] = [];
    const authorize = (sent: Request): Grant => ({
      user: byName(sent)?.user ?? "",
      mayForeign: (action) => {
        asked.push(action);
        return action === "cancel";
      },
    });
    await using scene = new Scene(talker(), { authorize });
    const id = await scene.as("ada").create();
    const rev = scene.as("rev");
    expect((await rev.post(`/sessions/${id}/cancel`, {})).status).toBe(200);
    expect(asked.splice(0)).toEqual(["cancel"]);
    await rev.post(`/sessions/${id}/messages`, { content: "Hi" });
    expect(asked.splice(0)).toEqual(["post", "read"]);
    const messages = [{ id: "m_1", role: "user", parts: [{ type: "text", text: "Hi" }] }];
    const posted = await rev.send("/agents/helper/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id, messages }),
    });
    await posted.text();
    expect(asked).toEqual(["read"]);
  });

  it("is open to a reviewer for what `mayForeign` allows, and nothing else", async () => {
    const grants: Readonly<Record<string, Grant>> = {
      ada: { user: "ada" },
      rita: {
        user: "rita",
        mayForeign: (action, { agent }) => agent === "helper" && (action === "read" || action === "decide"),
      },
    };
    const pay = toolOf("pay", () => "paid", { approval: "always" });
    const agent = agentOf([callsTools([{ name: "pay" }]), answers("Paid.")], { tools: [pay] });
    await using scene = new Scene(agent, { authorize: (sent) => grants[byName(sent)?.user ?? ""] });
    const ada = scene.as("ada");
    const rita = scene.as("rita");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Pay" });
    await stream.until("re-act-observed");
    const [{ toolCallId, digest }] = (await rita.get(`/sessions/${id}`)).body.questions;
    expect((await rita.get("/sessions")).body.sessions).toEqual([]);
    expect(await rita.post(`/sessions/${id}/messages`, { content: "Hi" })).toMatchObject({
      status: 403,
      body: { code: "forbidden" },
    });
    expect((await rita.delete(`/sessions/${id}`)).status).toBe(403);
    const decided = await rita.post(`/sessions/${id}/decisions`, { toolCallId, digest, decision: "approve" });
    expect(decided.body.status).toBe("accepted");
    expect((await stream.until("tool-call-decided")).input).toMatchObject({ by: "rita" });
  });

  it("does not stream an answer to a user who may post to it and not read it", async () => {
    await using scene = new Scene(talker(), {
      authorize: (sent) => {
        const { user = "" } = byName(sent) ?? {};
        return { user, mayForeign: (action) => action === "post" };
      },
    });
    const id = await scene.as("ada").create();
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] };
    const posted = await scene.as("rita").send("/agents/helper/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id, messages: [message], trigger: "submit-message" }),
    });
    await posted.text();
    expect((await scene.as("ada").get(`/sessions/${id}`)).body.state.messages).toEqual([]);
  });
});

describe("a session id", () => {
  it("has 144 random bits", async () => {
    await using scene = new Scene(talker());
    const ids = new Set<string>();
    for (let count = 0; count < 20; count += 1) ids.add(await scene.as("ada").create());
    expect(ids.size).toBe(20);
    for (const id of ids) expect(id).toMatch(/^s_[A-Za-z0-9_-]{24}$/);
  });

  it.each([
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e",
    "%00",
    "a%00b",
    "a%0d%0aset-cookie:%20x=1",
    "%ff",
    "%",
    "%ud800",
    "con",
    "a".repeat(5_000),
    "__proto__",
    "constructor",
    "s_%2F",
    "%3Cscript%3E",
  ])("with a path trick is not found: %s", async (trick) => {
    await using scene = new Scene(talker());
    for (const sent of routesOfSession(trick)) {
      const ada = { authorization: "Bearer ada" };
      const { status, body: shown, headers: received } = await sentTo(scene, sent, ada);
      expect(status, sent[1]).toBe(404);
      expect(JSON.parse(shown).detail).not.toContain(trick);
      expect(received.map(([name]) => name)).not.toContain("set-cookie");
    }
    const created = await scene.as("ada").post(`/agents/${trick}/sessions`);
    // A trick that the address itself resolves names another route.
    expect([404, 405]).toContain(created.status);
    expect(scene.errors).toEqual([]);
  });
});

describe("a decision", () => {
  async function asked() {
    const ran: string[] = [];
    const pay = toolOf("pay", () => (ran.push("pay"), "paid"), { approval: "always" });
    const agent = agentOf([callsTools([{ name: "pay" }]), answers("Paid.")], { tools: [pay] });
    const scene = new Scene(agent);
    const ada = scene.as("ada");
    const id = await ada.create();
    const stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Pay" });
    await stream.until("re-act-observed");
    const [{ toolCallId, digest }] = (await ada.get(`/sessions/${id}`)).body.questions;
    return { ran, scene, ada, id, stream, toolCallId: String(toolCallId), digest: String(digest) };
  }

  it("with a forged name of the reviewer is refused, and recorded under the authenticated one", async () => {
    const { scene, ada, id, stream, toolCallId, digest, ran } = await asked();
    await using _ = scene;
    const forged = { toolCallId, digest, decision: "approve", by: "boss" };
    expect(await ada.post(`/sessions/${id}/decisions`, forged)).toMatchObject({
      status: 400,
      body: { code: "invalid-request" },
    });
    expect(ran).toEqual([]);
    await ada.post(`/sessions/${id}/decisions`, { toolCallId, digest, decision: "approve" });
    expect((await stream.until("tool-call-decided")).input).toMatchObject({ by: "ada" });
  });
});

describe("a grant of the wrong form", () => {
  const form = "must be a function (action, session) that returns whether the user may do it, got";
  it.each([
    [{ user: "rev", mayForeign: ["read"] }, `The mayForeign that authorize returns ${form} an array.`],
    [{ user: "rev", may: "read" }, `The may that authorize returns ${form} "read".`],
    [
      { user: "rev", mayReadMetrics: "no" },
      'The mayReadMetrics that authorize returns must be true or false, got "no".',
    ],
    [null, "authorize must return { user } or undefined, got null."],
    ["rev", 'authorize must return { user } or undefined, got "rev".'],
  ])("is refused at each request, and reported: %j", async (grant, message) => {
    // Callers without types may return any value.
    await using scene = new Scene(talker(), { authorize: () => grant as never });
    expect(await scene.as("rev").get("/sessions")).toMatchObject({
      status: 500,
      body: { code: "internal", detail: "The server failed." },
    });
    expect(scene.errors).toMatchObject([{ message }]);
  });
});

describe("a page of another site", () => {
  const foreign: readonly Readonly<Record<string, string>>[] = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://localhost:9999" },
    { origin: "http://localhost.evil.example" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ];

  it.each(foreign)("cannot post, read or stream: %j", async (headers) => {
    await using scene = new Scene(talker(), everyRoute);
    const id = await scene.as("ada").create();
    const names = (await describedRoutes(scene)).map(({ name }) => name);
    for (const sent of requestsTo(names, id)) {
      const answer = await sentTo(scene, sent, { ...headers, authorization: "Bearer ada" });
      expect(answer, sent[1]).toMatchObject({ status: 403 });
      expect(answer.headers.map(([name]) => name)).not.toContain("access-control-allow-origin");
    }
  });

  it("cannot post a form or a text", async () => {
    await using scene = new Scene(talker());
    const id = await scene.as("ada").create();
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""]) {
      const init = { method: "POST", body: '{"content":"Hi"}', headers: { "content-type": type } };
      const { status } = await scene.as("ada").send(`/sessions/${id}/messages`, init);
      expect(status, type).toBe(415);
    }
  });

  it("may use the server if its origin is allowed", async () => {
    const origin = "https://app.example";
    await using scene = new Scene(talker(), { allowedOrigins: [origin] });
    const preflight = await scene.server.fetch(
      request("/sessions", {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      }),
    );
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    const headers = { origin, authorization: "Bearer ada", "sec-fetch-site": "cross-site" };
    const listed = await scene.server.fetch(request("/sessions", { headers }));
    expect(listed.status).toBe(200);
    expect(listed.headers.get("access-control-allow-origin")).toBe(origin);
    expect(listed.headers.get("vary")).toContain("origin");
    const other = await scene.server.fetch(
      request("/sessions", { method: "OPTIONS", headers: { origin: "https://evil.example" } }),
    );
    expect(other.status).toBe(403);
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("gets the cause if a proxy has changed the host, as that of Vite does in its short form", async () => {
    await using scene = new Scene(talker());
    const headers = { origin: "http://localhost:5173", host: "localhost:8787", authorization: "Bearer ada" };
    const response = await scene.server.fetch(request("/sessions", { headers }));
    expect(await response.json()).toMatchObject({
      status: 403,
      code: "origin-not-allowed",
      detail: expect.stringMatching(/not that of the header Host.*server\.proxy of Vite.*\{ target \}/),
    });
    const kept = { ...headers, host: "localhost:5173" };
    expect((await scene.server.fetch(request("/sessions", { headers: kept }))).status).toBe(200);
  });

  it("may use the server if it is a page of the server", async () => {
    await using scene = new Scene(talker());
    const headers = {
      origin: "http://localhost",
      authorization: "Bearer ada",
      "sec-fetch-site": "same-origin",
    };
    expect((await scene.server.fetch(request("/sessions", { headers }))).status).toBe(200);
  });
});

describe("a name that is bound to a loopback address", () => {
  const ask = (scene: Scene, host: string, connection?: Connection) =>
    scene.server.fetch(
      new Request("http://localhost/sessions", { headers: { host, authorization: "Bearer ada" } }),
      connection,
    );

  it("is refused without `authorize`", async () => {
    await using scene = new Scene(talker(), { authorize: null });
    for (const host of [
      "evil.example",
      "evil.example:80",
      "127.0.0.1.evil.example",
      "localhost.evil",
      "192.168.0.7",
      "",
    ])
      expect((await ask(scene, host)).status, host).toBe(403);
    for (const host of ["localhost", "LOCALHOST:8787", "127.0.0.1:1", "127.8.9.1", "[::1]:80"])
      expect((await ask(scene, host)).status, host).toBe(200);
  });

  it("is refused on a loopback address with `authorize`, unless it is an allowed host", async () => {
    await using scene = new Scene(talker(), { allowedHosts: ["Agents.Example"] });
    expect((await ask(scene, "evil.example", { isLoopback: true })).status).toBe(403);
    expect((await ask(scene, "agents.example", { isLoopback: true })).status).toBe(200);
    expect((await ask(scene, "evil.example")).status).toBe(200);
  });
});

describe("a request", () => {
  it("without a user is refused on every route, also where authorize fails", async () => {
    await using scene = new Scene(talker(), everyRoute);
    const routes = await describedRoutes(scene);
    const open = routes.filter(({ isRestricted }) => !isRestricted).map(({ name }) => name);
    expect(open.toSorted()).toEqual(["GET /health", "GET /inspector/", "GET /openapi.json", "GET /ready"]);
    const restricted = routes.filter(({ isRestricted }) => isRestricted).map(({ name }) => name);
    for (const sent of requestsTo(restricted, "x"))
      expect(await sentTo(scene, sent), sent[1]).toMatchObject({ status: 401 });
    await using broken = new Scene(talker(), {
      authorize: () => {
        throw new Error("secret database at 10.0.0.1");
      },
    });
    const { status, body } = await shownOf(await broken.server.fetch(request("/sessions")));
    expect(status).toBe(500);
    expect(body).not.toContain("secret");
    expect(JSON.parse(body)).toMatchObject({ code: "internal", detail: "The server failed." });
    expect(broken.errors).toHaveLength(1);
    await using thrower = new Scene(talker(), {
      authorize: () => {
        // oxlint-disable-next-line typescript/only-throw-error
        throw "secret";
      },
    });
    expect(await shownOf(await thrower.server.fetch(request("/sessions")))).toMatchObject({ status: 500 });
    expect(thrower.errors).toHaveLength(1);
  });

  it.each([
    ["not JSON", "{"],
    ["empty", ""],
    ["not UTF-8", Uint8Array.of(0x22, 0xff, 0x22)],
    ["another form", "[]"],
    ["an unknown field", '{"content":"Hi","admin":true}'],
    ["a field of the prototype", '{"content":"Hi","__proto__":{"admin":true}}'],
    ["too many levels", `{"content":${"[".repeat(5_000)}${"]".repeat(5_000)}}`],
  ])("with a body that is wrong gets a problem that does not repeat it: %s", async (_name, body) => {
    await using scene = new Scene(talker());
    const id = await scene.as("ada").create();
    const init = { method: "POST", body, headers: { "content-type": "application/json" } };
    const response = await scene.as("ada").send(`/sessions/${id}/messages`, init);
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({
      status: 400,
      code: "invalid-request",
      type: "about:blank",
    });
    expect(scene.errors).toEqual([]);
  });

  it("that creates a session has no fields: its body is {} or missing, and any other one is refused", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const path = "/agents/helper/sessions";
    const json = { "content-type": "application/json" };
    const create = async (body: string | undefined, headers: Readonly<Record<string, string>>) => {
      const init = { method: "POST", headers, ...(body === undefined ? {} : { body }) };
      return (await ada.send(path, init)).status;
    };
    for (const [body, headers, status] of [
      [undefined, {}, 201],
      ["", json, 201],
      ["{}", json, 201],
      ['{"x":1}', json, 400],
      ["[]", json, 400],
      ["{", json, 400],
      ["{}", { "content-type": "text/plain" }, 415],
    ] as const)
      expect(await create(body, headers), String(body)).toBe(status);
    expect(await scene.log.list()).toHaveLength(3);
  });

  it("with an oversized body is refused before it is read as a whole", async () => {
    await using scene = new Scene(talker(), { limits: { maxBodyBytes: 1_000 } });
    const id = await scene.as("ada").create();
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 100;
        controller.enqueue(new Uint8Array(100).fill(0x20));
      },
    });
    const init = {
      method: "POST",
      body: endless,
      duplex: "half" as const,
      headers: { "content-type": "application/json" },
    };
    const response = await scene.as("ada").send(`/sessions/${id}/messages`, init);
    expect(response.status).toBe(413);
    expect(sent).toBeLessThan(2_000);
    const declared = { ...init, body: "{}", headers: { ...init.headers, "content-length": "1001" } };
    expect((await scene.as("ada").send(`/sessions/${id}/messages`, declared)).status).toBe(413);
  });

  it("whose body does not end is refused in time", async () => {
    const clock = new TestClock();
    await using scene = new Scene(talker(), { clock });
    const id = await scene.as("ada").create();
    const body = new ReadableStream<Uint8Array>();
    const init = {
      method: "POST",
      body,
      duplex: "half" as const,
      headers: { "content-type": "application/json" },
    };
    const sent = scene.as("ada").send(`/sessions/${id}/messages`, init);
    await turn();
    await clock.advanceAsync(10_000);
    expect((await sent).status).toBe(408);
  });

  it("with an unknown method or address gets a problem", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const id = await ada.create();
    expect((await ada.send(`/sessions/${id}`, { method: "PUT", body: "{}" })).status).toBe(405);
    expect((await ada.send(`/sessions/${id}/events`, { method: "HEAD" })).status).toBe(405);
    expect((await ada.get("/")).status).toBe(404);
    const { headers } = await ada.get("/sessions", { "moora-protocol": "1" });
    expect(Object.fromEntries(headers)).toMatchObject({
      "moora-protocol": "1",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
  });
});

describe("a cursor", () => {
  it.each([
    "-1",
    "1.5",
    "abc",
    "",
    "9".repeat(16),
    "9".repeat(9_000),
    "1e3",
    "0x10",
    "NaN",
    "1 2",
    "1,2",
    "+1",
    "<script>",
  ])("that is not the number of a record is refused: %j", async (cursor) => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const id = await ada.create();
    const expected = { status: 400, body: { code: "invalid-cursor" } };
    expect(await ada.get(`/sessions/${id}/events?after=${encodeURIComponent(cursor)}`)).toMatchObject(
      expected,
    );
    const answer = await ada.get(`/sessions/${id}/events`, { "last-event-id": cursor });
    expect(answer).toMatchObject(expected);
    expect(JSON.stringify(answer.body)).not.toContain("<script>");
  });

  it("beyond the last record is refused with the last record, and leaves no stream open", async () => {
    await using scene = new Scene(talker(), { limits: { maxStreamsPerUser: 1 } });
    const ada = scene.as("ada");
    const id = await ada.create();
    for (const cursor of [2, 999_999, Number.MAX_SAFE_INTEGER]) {
      expect(await ada.get(`/sessions/${id}/events?after=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: "cursor-beyond-end", seq: 1 },
      });
    }
    await using stream = await ada.events(id, 1);
    await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    expect((await stream.until("user-message-received")).seq).toBe(2);
  });
});

describe("a message", () => {
  it("cannot forge an event or a header of the stream", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    const content = '\n\nid: 999\nevent: input\ndata: {"seq":999}\n\n\r\n\r\nset-cookie: a=b\u2028\u2029';
    await ada.post(`/sessions/${id}/messages`, { content });
    const { input } = await stream.until("user-message-received");
    expect(input).toMatchObject({ content });
    await stream.until("re-act-observed");
    expect(stream.seqs).not.toContain(999);
  });
});
