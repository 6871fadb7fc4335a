import { connectMcp } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { bareHttpServer, says, type OnCall } from "../support/bare-http-server.ts";
import { serveHttp } from "../support/servers.ts";
import { runTool } from "../support/tools.ts";

const event = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

const stream: OnCall = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(": a comment\n\n");
};

const lost = {
  isSuccess: false,
  code: "connection-lost",
  error: expect.stringContaining("The call may have had its effect. The next call connects again."),
};

describe("a server over HTTP", () => {
  it("gets the headers of its address with every request, also those that a function returns", async () => {
    await using server = await bareHttpServer({ hello: says("Hello.") });
    let token = 0;
    await using connection = await connectMcp(
      { url: server.url, headers: () => ({ authorization: `Bearer ${(token += 1)}` }) },
      { name: "web" },
    );
    await runTool(connection.tools, "web_hello");
    const sent = server.headers.map(({ authorization }) => authorization);
    expect(sent.length).toBeGreaterThan(3);
    expect(new Set(sent).size).toBe(sent.length);
    await using fixed = await connectMcp(
      { url: server.url, headers: { authorization: "Bearer fixed" } },
      { name: "web" },
    );
    await runTool(fixed.tools, "web_hello");
    expect(server.headers.at(-1)).toMatchObject({ authorization: "Bearer fixed" });
  });

  it("that was started again fails one call, and is connected to again for the next", async () => {
    await using server = await bareHttpServer({ hello: says("Hello.") });
    await using connection = await connectMcp({ url: server.url }, { name: "web" });
    server.restart();
    expect(await runTool(connection.tools, "web_hello")).toMatchObject(lost);
    expect(await runTool(connection.tools, "web_hello")).toEqual({ isSuccess: true, content: "Hello." });
  });

  it.each<[string, OnCall]>([
    ["status 404", (response) => void response.writeHead(404).end("Gone.")],
    ["a redirect", (response) => void response.writeHead(307, { location: "/mcp" }).end()],
    ["a permanent redirect", (response) => void response.writeHead(308, { location: "/other" }).end()],
  ])("that answers a call with %s gets it once", async (_, broken) => {
    await using server = await bareHttpServer({ broken, hello: says("Hello.") });
    await using connection = await connectMcp({ url: server.url }, { name: "web" });
    expect(await runTool(connection.tools, "web_broken")).toMatchObject(lost);
    expect(server.methods.filter((method) => method === "tools/call")).toHaveLength(1);
    expect(await runTool(connection.tools, "web_hello")).toMatchObject({ isSuccess: true });
  });

  it("that redirects the handshake is not connected to, and the error has the other URL", async () => {
    await using server = await serveHttp(
      (_, response) => void response.writeHead(307, { location: "/mcp/" }).end(),
    );
    await expect(connectMcp({ url: server.url }, { name: "web" })).rejects.toMatchObject({
      code: "connect-failed",
      message: expect.stringContaining(`Redirect to ${server.url}/ not followed; use that URL`),
    });
  });

  it.each<[string, OnCall]>([
    [
      "ends its stream without an answer",
      (response, ...rest) => (stream(response, ...rest), void response.end()),
    ],
    ["is cut off in its stream", (response, ...rest) => (stream(response, ...rest), void response.destroy())],
    ["closes the connection", (response) => void response.destroy()],
    ["answers with status 502", (response) => void response.writeHead(502).end("Bad gateway")],
  ])("that %s fails the call, and answers the next", async (_, broken) => {
    await using server = await bareHttpServer({ broken, hello: says("Hello.") });
    await using connection = await connectMcp({ url: server.url }, { name: "web" });
    expect(await runTool(connection.tools, "web_broken")).toMatchObject(lost);
    expect(await runTool(connection.tools, "web_hello")).toMatchObject({ isSuccess: true });
  });

  const large = { content: [{ type: "text", text: "x".repeat(3 * 1024 * 1024) }] };
  it.each<[string, OnCall]>([
    [
      "a body",
      (response, id) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result: large }));
      },
    ],
    [
      "an event",
      (response, id, request) => {
        stream(response, id, request);
        response.end(event({ jsonrpc: "2.0", id, result: large }));
      },
    ],
  ])("that sends %s over the limit fails the call with its code", async (_, huge) => {
    await using server = await bareHttpServer({ huge, hello: says("Hello.") });
    await using connection = await connectMcp({ url: server.url }, { name: "web", maxResultBytes: 1_000 });
    expect(await runTool(connection.tools, "web_huge")).toMatchObject({ code: "result-too-large" });
    expect(await runTool(connection.tools, "web_hello")).toMatchObject({ isSuccess: true });
  });

  it("that sends too much to one call fails that one, and cuts off no other", async () => {
    const open: (() => void)[] = [];
    await using server = await bareHttpServer({
      huge: (response, id) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result: large }));
      },
      slow: (response, id, request) => void open.push(() => says("Done.")(response, id, request)),
      broken: (response) => void open.push(() => response.destroy()),
    });
    await using connection = await connectMcp({ url: server.url }, { name: "web", maxResultBytes: 1_000 });
    const others = [runTool(connection.tools, "web_slow"), runTool(connection.tools, "web_broken")];
    expect(await runTool(connection.tools, "web_huge")).toMatchObject({ code: "result-too-large" });
    for (const end of open) end();
    expect(await Promise.all(others)).toMatchObject([{ content: "Done." }, lost]);
  });

  it("may stream for as long as it likes, in events below the limit", async () => {
    await using server = await bareHttpServer({
      chatty: (response, id, request) => {
        stream(response, id, request);
        const params = { progressToken: -1, progress: 1, message: "x".repeat(100_000) };
        for (let count = 0; count < 60; count += 1)
          response.write(event({ jsonrpc: "2.0", method: "notifications/progress", params }));
        response.end(event({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "Done." }] } }));
      },
    });
    await using connection = await connectMcp({ url: server.url }, { name: "web", maxResultBytes: 1_000 });
    expect(await runTool(connection.tools, "web_chatty")).toEqual({ isSuccess: true, content: "Done." });
  });

  it("that asks for credentials is not connected to, and the error says where to set them", async () => {
    await using server = await serveHttp((_, response) => void response.writeHead(401).end());
    await expect(connectMcp({ url: server.url }, { name: "web" })).rejects.toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("Set them in headers."),
    });
  });

  it("that answers a call with status 403 fails it as unauthorized", async () => {
    await using server = await bareHttpServer({ secret: (response) => void response.writeHead(403).end() });
    await using connection = await connectMcp({ url: server.url }, { name: "web" });
    expect(await runTool(connection.tools, "web_secret")).toMatchObject({ code: "unauthorized" });
  });

  it("is not followed to another origin", async () => {
    let hits = 0;
    await using other = await serveHttp((_, response) => {
      hits += 1;
      response.end();
    });
    await using server = await bareHttpServer({
      away: (response) => void response.writeHead(307, { location: other.url }).end(),
    });
    await using connection = await connectMcp(
      { url: server.url, headers: { authorization: "Bearer secret" } },
      { name: "web" },
    );
    expect(await runTool(connection.tools, "web_away")).toMatchObject({ isSuccess: false });
    expect(hits).toBe(0);
  });

  it("that does not exist cannot be connected to", async () => {
    const gone = await serveHttp(() => undefined);
    await gone[Symbol.asyncDispose]();
    const { origin, host } = new URL(gone.url);
    await expect(connectMcp({ url: gone.url }, { name: "web" })).rejects.toMatchObject({
      code: "connect-failed",
      message: `Cannot connect to the MCP server web (${origin}): connect ECONNREFUSED ${host}.`,
    });
  });
});
