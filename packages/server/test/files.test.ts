import { defineAgent, defineContext, defineTool, toolReply, type AgentState } from "@moora/agent";
import { blobUrl, memoryLog, type BlobStore } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "@moora/server";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { Scene, type Answer, type Client } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
const dataUrl = `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
const url = blobUrl(bytes);
const digest = url.slice("ni:///sha-256;".length);

const page = Uint8Array.from(Buffer.from("<script>alert(1)</script>"));
const pageUrl = `data:text/html;base64,${Buffer.from(page).toString("base64")}`;

const post = { content: "What is it?", attachments: [{ mediaType: "image/png", url: dataUrl }] };

/** Posts a file by each of the routes. */
const posts: Readonly<Record<string, (user: Client, id: string, url: string) => Promise<Answer>>> = {
  messages: (user, id, file) => {
    const attachments = [{ mediaType: "image/png", url: file }];
    return user.post(`/sessions/${id}/messages`, { content: "Mine?", attachments });
  },
  chats: (user, id, file) => {
    const parts = [{ type: "file", mediaType: "image/png", url: file }];
    return user.post("/agents/helper/chat", { id, messages: [{ id: "m1", role: "user", parts }] });
  },
  "AG-UI": (user, id, file) => {
    const source = { type: "url", value: file, mimeType: "image/png" };
    const messages = [{ id: "m1", role: "user", content: [{ type: "image", source }] }];
    return user.post("/agents/helper/ag-ui", { threadId: id, runId: "r1", messages });
  },
};

/** The state of a session whose loop is done. */
async function settled(scene: Scene, id: string): Promise<AgentState> {
  for (let round = 0; round < 1_000; round += 1) {
    const { body } = await scene.as("ada").get(`/sessions/${id}`);
    const state = body.state as AgentState;
    if (state.reActContext.control.type === "Done") return state;
  }
  throw new Error("The loop of the session does not end.");
}

describe("a file of a session", () => {
  it("is stored outside the records, and read by its digest by those who may read the session", async () => {
    await using scene = new Scene(agentOf([answers("A picture.")]));
    const ada = scene.as("ada");
    const id = await ada.create();
    await ada.post(`/sessions/${id}/messages`, post);
    const state = await settled(scene, id);
    expect(state.messages[0]?.attachments).toEqual([{ mediaType: "image/png", url }]);
    const response = await ada.send(`/sessions/${id}/files/${digest}`, {});
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    expect(response.headers.get("content-type")).toBe("image/png");
    expect(response.headers.get("cache-control")).toContain("private");
    const guesses = [
      await scene.as("bob").get(`/sessions/${id}/files/${digest}`),
      await ada.get(`/sessions/${id}/files/${"A".repeat(43)}`),
      await ada.get(`/sessions/${await ada.create()}/files/${digest}`),
    ];
    expect(guesses.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  it("does not run as a page of the server", async () => {
    const scan = toolOf("scan", () =>
      toolReply({ content: "scanned", files: [{ mediaType: "text/html", url: pageUrl }] }),
    );
    const agent = agentOf([callsTools([{ name: "scan" }]), answers("Scanned.")], { tools: [scan] });
    await using scene = new Scene(agent, { blobs: { maxInlineBytes: 0 } });
    const ada = scene.as("ada");
    const id = await ada.create();
    await ada.post(`/sessions/${id}/messages`, { content: "Scan." });
    await settled(scene, id);
    const { headers } = await ada.send(`/sessions/${id}/files/${blobUrl(page).slice(14)}`, {});
    expect(headers.get("content-disposition")).toBe("attachment");
    expect(headers.get("content-security-policy")).toContain("sandbox");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("can be shown by an element with `crossorigin` in a page of an allowed origin", async () => {
    const origin = "https://app.example";
    await using scene = new Scene(agentOf([answers("A picture.")]), { allowedOrigins: [origin] });
    const ada = scene.as("ada");
    const id = await ada.create();
    await ada.post(`/sessions/${id}/messages`, post);
    const { status, headers } = await ada.send(`/sessions/${id}/files/${digest}`, {
      headers: { origin, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" },
    });
    expect(status).toBe(200);
    expect(headers.get("access-control-allow-origin")).toBe(origin);
    expect(headers.get("access-control-allow-credentials")).toBe("true");
  });

  it("stays in the records where the server stores no files", async () => {
    await using scene = new Scene(agentOf([answers("A picture.")]), { blobs: false });
    const id = await scene.as("ada").create();
    await scene.as("ada").post(`/sessions/${id}/messages`, post);
    expect((await settled(scene, id)).messages[0]?.attachments).toEqual(post.attachments);
  });
});

describe("the URL of a stored file", () => {
  const stored = { mediaType: "image/png", url };

  it.each(Object.keys(posts))("does not give a user the file of another session: %s", async (kind) => {
    const llm = new MockLlmCaller(() => answers("A picture."));
    await using scene = new Scene(agentOf(llm));
    const adas = await scene.as("ada").create();
    await scene.as("ada").post(`/sessions/${adas}/messages`, post);
    await settled(scene, adas);
    const bob = scene.as("bob");
    const id = await bob.create();
    expect(await posts[kind]?.(bob, id, url)).toMatchObject({
      status: 422,
      body: { code: "refused", path: kind === "messages" ? "attachments" : "messages" },
    });
    expect((await bob.get(`/sessions/${id}/files/${digest}`)).status).toBe(404);
    expect((await bob.get(`/sessions/${id}`)).body.state.messages).toEqual([]);
    expect(llm.requests).toHaveLength(1);
    expect(scene.errors).toEqual([]);
  });

  it("is refused in the same way whether the server has such a file or not, in every form", async () => {
    await using scene = new Scene(agentOf([]));
    const ada = scene.as("ada");
    const id = await ada.create();
    for (const other of [
      url,
      url.replace("ni:", "NI:"),
      ` ${url}`,
      `${url}?ct=image/png`,
      "ni:///sha-256;x",
    ]) {
      const attachments = [{ mediaType: "image/png", url: other }];
      const { status, body } = await ada.post(`/sessions/${id}/messages`, { content: "?", attachments });
      expect([status, body.code, body.detail], other).toEqual([
        422,
        "refused",
        "An attachment has the URL of a stored file that the session does not have. Send its bytes as a data URL.",
      ]);
    }
  });

  it("may be posted again to a session that has the file, also at a server that does not run it", async () => {
    const log = memoryLog();
    const llm = new MockLlmCaller(() => answers("A picture."));
    await using scene = new Scene(agentOf(llm), { log });
    const id = await scene.as("ada").create();
    await using other = new Scene(agentOf(llm), { log });
    expect((await other.as("ada").get(`/sessions/${id}`)).status).toBe(200);
    await scene.as("ada").post(`/sessions/${id}/messages`, post);
    await settled(scene, id);
    const again = { content: "And now?", attachments: [stored] };
    const key = { "idempotency-key": "again" };
    const { body: receipt } = await other.as("ada").post(`/sessions/${id}/messages`, again, key);
    expect(receipt.status).toBe("accepted");
    expect((await scene.as("ada").post(`/sessions/${id}/messages`, again, key)).body).toEqual(receipt);
  });

  it("is the same for a repeated post after a restart, also at an address that the store chose", async () => {
    const log = memoryLog();
    let count = 0;
    const kept = new Map<string, Uint8Array>();
    const store: BlobStore = {
      put(given) {
        count += 1;
        const address = `https://files.test/${count}`;
        kept.set(address, given);
        return address;
      },
      get: (address) => kept.get(address),
      remove: (address) => void kept.delete(address),
    };
    const agent = agentOf(() => answers("A picture."));
    const key = { "idempotency-key": "once" };
    const first = new Scene(agent, { log, blobs: { store } });
    const id = await first.as("ada").create();
    const { body: receipt } = await first.as("ada").post(`/sessions/${id}/messages`, post, key);
    await first.server.close();
    await using again = new Scene(agent, { log, blobs: { store } });
    const repeat = (body: object): Promise<Answer> =>
      again.as("ada").post(`/sessions/${id}/messages`, body, key);
    expect((await repeat(post)).body).toEqual(receipt);
    const other = { ...post, attachments: [{ mediaType: "image/png", url: pageUrl }] };
    expect((await repeat(other)).body.code).toBe("idempotency-key-reused");
    kept.clear();
    expect((await repeat(post)).body.code).toBe("idempotency-key-reused");
  });

  it("is also one of a store with addresses of its own", async () => {
    const { blobs } = memoryLog();
    if (blobs === undefined) throw new Error("A log in memory stores bytes.");
    const address = "https://files.test/";
    const store: BlobStore = {
      put: async (given, mediaType) => address + (await blobs.put(given, mediaType)),
      get: (given) => blobs.get(given.slice(address.length)),
      remove: (given) => blobs.remove(given.slice(address.length)),
    };
    await using scene = new Scene(
      agentOf(() => answers("A picture.")),
      { blobs: { store } },
    );
    const adas = await scene.as("ada").create();
    await scene.as("ada").post(`/sessions/${adas}/messages`, post);
    expect((await settled(scene, adas)).messages[0]?.attachments?.[0]?.url).toBe(address + url);
    const id = await scene.as("bob").create();
    const send = async (own: string): Promise<Answer> => {
      const attachments = [{ mediaType: "image/png", url: own }];
      return await scene.as("bob").post(`/sessions/${id}/messages`, { content: "Mine?", attachments });
    };
    expect((await send(address + url)).body.code).toBe("refused");
    expect((await send("https://pictures.test/a.png")).body.status).toBe("accepted");
  });
});

describe("the context of sessions", () => {
  const user = defineContext<{ readonly user: string | null; readonly agent: string }>();
  const whoAmI = defineTool({
    name: "who",
    description: "Returns the user.",
    input: z.object({}),
    context: user,
    execute: (_input, { context }) => `${context.user} of ${context.agent}`,
  });
  const agent = () =>
    defineAgent({
      name: "helper",
      llm: new MockLlmCaller([callsTools([{ name: "who" }]), answers("You are Ada.")]),
      tools: [whoAmI],
    });

  it("is made for the user to whom a session belongs", async () => {
    const context = async (owner: string | null, { agent: name }: { agent: string }) => ({
      user: owner,
      agent: name,
    });
    await using scene = new Scene(agent(), { context });
    const id = await scene.as("ada").create();
    await scene.as("ada").post(`/sessions/${id}/messages`, { content: "Who am I?" });
    const { toolCalls } = await settled(scene, id);
    expect(Object.values(toolCalls)[0]?.result).toMatchObject({ content: "ada of helper" });
  });

  it("is required for an agent that needs one", () => {
    expect(() => createAgentServer({ agents: [agent()], log: memoryLog() })).toThrow(
      'The agent "helper" needs a context. Give createAgentServer the option context.',
    );
  });

  it("fails the request, and is reported, if it cannot be made", async () => {
    const context = (): never => {
      throw new Error("The directory of users is down.");
    };
    await using scene = new Scene(agent(), { context });
    const { status, body } = await scene.as("ada").post("/agents/helper/sessions");
    expect([status, body.code]).toEqual([500, "internal"]);
    expect(scene.errors).toMatchObject([{ message: "The directory of users is down." }]);
  });
});

describe("the URL of a posted file", () => {
  const refused = [
    "",
    " ",
    "javascript:alert(1)",
    " JavaScript:alert(1)",
    "java\nscript:alert(1)",
    "vbscript:x",
    "file:///etc/passwd",
    "FILE:/x",
  ];

  it.each(Object.keys(posts))(
    "is refused if it runs a script, or names a file of a machine: %s",
    async (kind) => {
      await using scene = new Scene(agentOf([]));
      const ada = scene.as("ada");
      const id = await ada.create();
      for (const file of refused) {
        expect(await posts[kind]?.(ada, id, file), file).toMatchObject({
          status: 422,
          body: {
            code: "refused",
            path: kind === "messages" ? "attachments" : "messages",
            detail: expect.stringContaining(
              "must not have an empty URL, or one that begins with javascript:",
            ),
          },
        });
      }
      expect((await ada.get(`/sessions/${id}`)).body.state.messages).toEqual([]);
    },
  );

  it("is recorded as it is otherwise", async () => {
    await using scene = new Scene(agentOf(new MockLlmCaller(() => answers("A picture."))));
    const ada = scene.as("ada");
    const id = await ada.create();
    const attachments = ["https://example.com/a.png", "notes/a.png", "s3://bucket/file.png"].map((file) => ({
      mediaType: "image/png",
      url: file,
    }));
    expect((await ada.post(`/sessions/${id}/messages`, { content: "?", attachments })).status).toBe(200);
    expect((await settled(scene, id)).messages[0]?.attachments).toEqual(attachments);
  });
});
