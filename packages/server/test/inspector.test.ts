import { parsePortable } from "@moora/agent";
import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import { Scene } from "@moora/testbed/server/scene";

const page = { html: "<!doctype html><title>page</title>", contentSecurityPolicy: "default-src 'none'" };
const inspector = async () => page;
const talker = () => agentOf(() => answers("Hello."));

describe("the page of the inspector", () => {
  it("is sent with its own policy, also without authentication, because it contains no session", async () => {
    await using scene = new Scene(talker(), { inspector, basePath: "/api" });
    const response = await scene.server.fetch(new Request("http://localhost/api/inspector/"));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toBe(page.contentSecurityPolicy);
    expect(response.headers.get("x-frame-options")).toBe("DENY");
    expect(await response.text()).toBe(page.html);
  });

  it("is the same without the final slash, which some hosts remove", async () => {
    await using scene = new Scene(talker(), { inspector, basePath: "/api" });
    const response = await scene.server.fetch(new Request("http://localhost/api/inspector"));
    expect([response.status, await response.text()]).toEqual([200, page.html]);
  });

  it("is not found where it is not given, and then the description does not have it", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    expect((await ada.get("/inspector/")).status).toBe(404);
    expect((await ada.get("/openapi.json")).body.paths).not.toHaveProperty("/inspector/");
  });

  it("is refused in another form", () => {
    // @ts-expect-error The page is made by a function.
    expect(() => new Scene(talker(), { inspector: true })).toThrow("inspector must be a function");
  });
});

describe("a link of another site", () => {
  const navigation = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  const statusOf = async (scene: Scene, path: string, headers: object): Promise<number> =>
    (
      await scene.server.fetch(
        new Request(`http://localhost/api${path}`, { headers: { ...navigation, ...headers } }),
      )
    ).status;

  it.each([
    ["/inspector", 200],
    ["/inspector/", 200],
    ["/openapi.json", 200],
  ])("opens %s, which contains no session", async (path, status) => {
    await using scene = new Scene(talker(), { inspector, basePath: "/api", authorize: null });
    expect(await statusOf(scene, path, {})).toBe(status);
    expect(await statusOf(scene, path, { "sec-fetch-site": "same-site" })).toBe(status);
  });

  it.each([
    { "sec-fetch-dest": "iframe" },
    { "sec-fetch-dest": "embed" },
    { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" },
    { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" },
    { origin: "https://evil.example" },
  ])("does not open it otherwise: %j", async (headers) => {
    await using scene = new Scene(talker(), { inspector, basePath: "/api", authorize: null });
    expect(await statusOf(scene, "/inspector/", headers)).toBe(403);
  });

  it("does not open a route of sessions", async () => {
    await using scene = new Scene(talker(), { inspector, basePath: "/api", authorize: null });
    for (const path of ["/sessions", "/sessions/s_1", "/sessions/s_1/export", "/health", "/other"])
      expect(await statusOf(scene, path, {}), path).toBe(403);
  });
});

describe("the export of a session", () => {
  it("has all records with their digests", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    await stream.until("re-act-observed");
    const response = await ada.send(`/sessions/${id}/export`, {});
    expect(response.headers.get("content-type")).toBe("application/jsonl");
    const { records } = parsePortable(await response.text());
    expect(records.map(({ body }) => JSON.parse(body))).toEqual(stream.inputs.map(({ input }) => input));
  });

  it("of another user is as unknown as one that does not exist", async () => {
    await using scene = new Scene(talker());
    const id = await scene.as("ada").create();
    const foreign = await scene.as("bob").get(`/sessions/${id}/export`);
    const missing = await scene.as("bob").get("/sessions/nothing/export");
    expect([foreign.status, foreign.body]).toEqual([404, missing.body]);
    expect((await scene.server.fetch(new Request(`http://localhost/sessions/${id}/export`))).status).toBe(
      401,
    );
  });
});
