import { answers, callsTools } from "@moora/llm/testing";
import { mcpOfServer } from "@moora/mcp";
import { Validator as JsonSchemaValidator } from "@cfworker/json-schema";
import { agentOf } from "@moora/testbed/server/agent-of";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { routesOfReadme } from "./readme-routes.ts";
import { Scene, type Answer } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

const talker = () => agentOf(() => answers("Hello."));

// The document as a test reads it.
// oxlint-disable-next-line typescript/no-explicit-any
async function documentOf(scene: Scene, base = ""): Promise<any> {
  const response = await scene.server.fetch(new Request(`http://localhost${base}/openapi.json`));
  expect(response.status).toBe(200);
  return await response.json();
}

const methods = ["get", "post", "put", "patch", "delete"] as const;

describe("the OpenAPI description of a server", () => {
  it.each([
    ["on a loopback address", "", { authorize: null }],
    ["with authentication, metrics and a base path", "/api", { metrics: true, basePath: "/api" }],
  ])("is valid: %s", async (_name, base, options) => {
    await using scene = new Scene(talker(), options);
    const document = await documentOf(scene, base);
    const validator = new Validator();
    expect(await validator.validate(document)).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
    expect(document.servers).toEqual([{ url: base === "" ? "/" : base }]);
  });

  it("has every route that the server takes, and no other", async () => {
    const inspector = async () => ({ html: "", contentSecurityPolicy: "" });
    await using scene = new Scene(talker(), { metrics: true, inspector, mcp: mcpOfServer() });
    const { paths } = await documentOf(scene);
    for (const [path, operations] of Object.entries<Record<string, unknown>>(paths)) {
      const address = path.replaceAll(/\{\w+\}/g, "x");
      const taken: string[] = [];
      let allow: string | null = null;
      for (const method of methods) {
        const { status, headers } = await scene.as("ada").send(address, { method: method.toUpperCase() });
        if (status !== 405) taken.push(method);
        else allow = headers.get("allow");
      }
      expect(taken.toSorted(), path).toEqual(Object.keys(operations).toSorted());
      expect(allow?.toLowerCase().split(", ").toSorted(), path).toEqual(Object.keys(operations).toSorted());
    }
    // The routes of the README, which people read, are the same.
    const described = Object.entries<object>(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual(routesOfReadme().toSorted());
  });

  it("leaves the metrics out where they are off", async () => {
    await using scene = new Scene(talker());
    expect(Object.keys((await documentOf(scene)).paths)).not.toContain("/metrics");
  });

  it("fits what the server answers", async () => {
    const pay = toolOf("pay", () => "paid", { approval: "always" });
    const script = [callsTools([{ name: "pay" }]), answers("Paid.")];
    await using scene = new Scene(agentOf(script, { tools: [pay] }));
    const { paths, components } = await documentOf(scene);
    const ada = scene.as("ada");
    const check = (path: string, method: string, { status, body, headers }: Answer): void => {
      const described = paths[path][method].responses[status];
      expect(described, `${method} ${path} ${status}`).toBeDefined();
      const type = headers.get("content-type") ?? "";
      const { schema } = described.content[type];
      const result = new JsonSchemaValidator({ components, ...schema }, "2020-12").validate(body);
      expect(result.errors, `${method} ${path} ${status}`).toEqual([]);
      for (const name of Object.keys(described.headers ?? {})) expect(headers.has(name), name).toBe(true);
    };
    const created = await ada.post("/agents/helper/sessions");
    check("/agents/{agent}/sessions", "post", created);
    const { id } = created.body;
    await using stream = await ada.events(id);
    check("/sessions/{id}/messages", "post", await ada.post(`/sessions/${id}/messages`, { content: "Pay" }));
    await stream.until("re-act-observed");
    const view = await ada.get(`/sessions/${id}`);
    check("/sessions/{id}", "get", view);
    check("/agents/{agent}/chat/{id}", "get", await ada.get(`/agents/helper/chat/${id}`));
    const [{ toolCallId, digest }] = view.body.questions;
    const decided = await ada.post(`/sessions/${id}/decisions`, { toolCallId, digest, decision: "approve" });
    check("/sessions/{id}/decisions", "post", decided);
    check("/agents/{agent}/chat/{id}", "get", await ada.get(`/agents/helper/chat/${id}`));
    check("/sessions/{id}/cancel", "post", await ada.post(`/sessions/${id}/cancel`, { reason: "Enough" }));
    check("/sessions/{id}/data", "post", await ada.post(`/sessions/${id}/data`, { patches: [] }));
    check("/sessions/{id}/messages", "post", await ada.post(`/sessions/${id}/messages`, { text: 1 }));
    check("/agents/{agent}/chat/{id}", "get", await ada.get("/agents/helper/chat/none"));
    check("/sessions", "get", await ada.get("/sessions?limit=1"));
    check("/sessions", "get", await ada.get("/sessions?limit=1000"));
    check("/sessions/{id}", "get", await ada.get("/sessions/none"));
    check("/sessions/{id}", "get", await ada.get(`/sessions/${id}?at=1000`));
    check("/health", "get", await ada.get("/health"));
    check("/ready", "get", await ada.get("/ready"));
    const { inputs } = stream;
    const inputSchema = { components, $ref: "#/components/schemas/InputEvent" };
    for (const event of inputs)
      expect(new JsonSchemaValidator(inputSchema, "2020-12").validate(event).errors).toEqual([]);
  });

  it("names the idempotency key of each post, and the code of each problem", async () => {
    await using scene = new Scene(talker());
    const { paths, components } = await documentOf(scene);
    for (const kind of ["messages", "decisions", "cancel", "data"]) {
      const { parameters } = paths[`/sessions/{id}/${kind}`].post;
      expect(parameters).toContainEqual(expect.objectContaining({ name: "idempotency-key", in: "header" }));
    }
    const codes: readonly string[] = components.schemas.Problem.properties.code.enum;
    expect(codes).toEqual(expect.arrayContaining(["too-many-requests", "idempotency-key-reused"]));
    const described = JSON.stringify(paths);
    for (const code of codes) if (code !== "method-not-allowed") expect(described).toContain(`\`${code}\``);
  });
});
