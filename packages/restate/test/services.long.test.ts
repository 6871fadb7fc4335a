import { userMessage } from "@moora/agent";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restateSession, type RestateSession } from "../src/index.ts";
import { RestateHost } from "./restate-host.ts";

let host: RestateHost;

beforeAll(async () => {
  host = await RestateHost.start();
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
});

const session = (id: string): RestateSession =>
  restateSession({ ingressUrl: host.ingressUrl, agent: "conformance", id });

describe("a session on Restate", () => {
  it("logs the retry of a model call", async () => {
    const prepared = await host.prepare({ world: { reach: () => Promise.resolve() } });
    await prepared.post("retried", userMessage("fail"));
    await prepared.waitFor("retried", (state) => state.reActContext.control.type === "Done");
    await expect
      .poll(() => host.entries.filter(({ sessionId }) => sessionId.endsWith("-retried")))
      .toMatchObject([
        {
          level: "warn",
          code: "llm-retry",
          data: { kind: "server" },
        },
      ]);
    await prepared.dispose();
  });

  it("is undefined before its first input, and has an empty log", async () => {
    expect(await session("new").current()).toBeUndefined();
    expect(await (await session("new").toLog()).list()).toEqual([]);
  });

  it("refuses a decision without a question or a reviewer, and posts that are not inputs, and continues", async () => {
    const open = session("malformed");
    await open.post(userMessage("Hello.", { messageId: "m1" }));
    const question = { toolCallId: "call_1", digest: "none" };
    // What a caller without types may pass.
    const untyped = open.decide.bind(open) as (...given: readonly unknown[]) => Promise<boolean>;
    for (const given of [
      [undefined, "approve"],
      ["call_1", "approve"],
      [{ toolCallId: 7, digest: 8 }, "approve"],
      [question, "approve", 5],
    ])
      await expect(untyped(...given)).rejects.toMatchObject({ status: 400 });
    // A question that is open, and a name that was cut in the middle of a character.
    await expect(untyped(question, "approve", "Ann \ud83d")).rejects.toMatchObject({ status: 400 });
    for (const body of ["null", "{}", "[]"]) {
      const { status } = await fetch(`${host.ingressUrl}/conformance-session/malformed/post`, {
        method: "POST",
        body,
        headers: { "content-type": "application/json" },
      });
      expect(status).toBe(400);
    }
    expect(await open.post(userMessage("Again.", { messageId: "m2" }))).toBe(true);
  });

  it.each([
    [
      "report",
      [
        undefined,
        "null",
        "{}",
        '{"inputs":[null]}',
        '{"inputs":[{}]}',
        '{"inputs":[],"after":"x"}',
        '{"inputs":[],"from":1}',
        '{"inputs":[],"from":"llm/1"}',
      ],
    ],
    ["view", ['{"after":1}', '{"after":{}}', '{"after":{"seq":0.5,"digest":"x"}}']],
    ["part", [undefined, "null", "{}", '{"at":0,"index":-1}']],
    ["create", [undefined, "null", "{}", '{"header":1}', '{"header":"{}"}', '{"header":"no JSON"}']],
    [
      "append",
      [
        undefined,
        "null",
        "{}",
        '{"header":"x","after":{"seq":0,"digest":"x"},"records":[]}',
        '{"header":"x","after":{"seq":0,"digest":"x"},"records":[null]}',
        '{"header":"x","after":{"seq":0,"digest":"x"},"records":[{"body":"{"}]}',
        '{"header":"x","after":{"seq":0,"digest":"x"},"records":[{"body":"{}"}]}',
        '{"header":"x","after":{"seq":-1,"digest":"x"},"records":[{"body":"{}","digest":"x"}]}',
      ],
    ],
    ["records", [undefined, "null", "{}", '{"after":-1e300,"limit":1e301}', '{"after":0,"limit":-1}']],
    // Timers call it, not the ingress.
    ["expire", [undefined, "null", "{}", '{"key":"a","due":0}']],
  ] as const)("refuses malformed bodies of %s, and continues", async (handler, bodies) => {
    const id = `malformed-${handler}`;
    await session(id).post(userMessage("Hello.", { messageId: "m1" }));
    for (const body of bodies) {
      const { status } = await fetch(`${host.ingressUrl}/conformance-session/${id}/${handler}`, {
        method: "POST",
        ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
      });
      expect([body, status]).toEqual([body, 400]);
    }
    expect(await session(id).post(userMessage("Again.", { messageId: "m2" }))).toBe(true);
  });

  it.each([
    ["no body", undefined],
    ["an empty query", "{}"],
    ["null", "null"],
  ])("is read with %s", async (_name, body) => {
    await session("viewed").post(userMessage("Hello.", { messageId: "m1" }));
    const response = await fetch(`${host.ingressUrl}/conformance-session/viewed/view`, {
      method: "POST",
      ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
    });
    expect(await response.json()).toMatchObject({ seq: expect.any(Number), snapshot: { seq: 0 } });
  });

  it("refuses the first input of a session whose id no log takes", async () => {
    const path = `conformance-session/${"a".repeat(201)}/post`;
    const response = await fetch(`${host.ingressUrl}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ inputs: [userMessage("Hello.")] }),
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("The id of a session must be a well-formed string of 1 to 200");
  });

  it("reports which inputs of a batch did not apply, and why", async () => {
    const message = userMessage("Hello.", { messageId: "m1" });
    const last = userMessage("Again.", { messageId: "m2" });
    const response = await fetch(`${host.ingressUrl}/conformance-session/batch/post`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ inputs: [message, message, last] }),
    });
    expect(await response.json()).toEqual({ applied: 2, ignored: [1], reasons: ["duplicate-id"] });
  });
});
