import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { connectMcp, type McpServerAddress } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { bareHttpServer, says } from "../support/bare-http-server.ts";
import { serveHttp } from "../support/servers.ts";
import { runTool } from "../support/tools.ts";

const secret = "canary/7f3a+é q";
const encoded = encodeURIComponent(secret);

/** Everything that an error shows: its text, its fields and its causes, at any depth. */
const shown = (error: unknown): string => inspect(error, { depth: 10, showHidden: true });

async function failure(address: McpServerAddress): Promise<string> {
  const error: unknown = await connectMcp(address, { name: "bad" }).then(
    () => "connected",
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  return shown(error);
}

/** The forms of the secret that an output contains. */
const leaked = (output: string): readonly string[] =>
  [secret, encoded, JSON.stringify(secret).slice(1, -1), "7f3a"].filter((form) => output.includes(form));

describe("a secret of an address", () => {
  it.each<[string, (url: string) => McpServerAddress]>([
    ["a parameter of the query", (url) => ({ url: `${url}?api_key=${encoded}` })],
    ["a query without names", (url) => ({ url: `${url}?${encoded}` })],
    ["a part of the path", (url) => ({ url: `${url}/s/${encoded}/sse` })],
    ["a header", (url) => ({ url, headers: { authorization: "Bearer canary-7f3a-token" } })],
    [
      "a header that a function returns",
      (url) => ({ url, headers: () => ({ authorization: "Bearer canary-7f3a-token" }) }),
    ],
  ])("in %s is not in the error of a server that quotes its request", async (_, address) => {
    for (const status of [400, 404, 500]) {
      await using server = await serveHttp((request, response) => {
        void text(request).then((body) => {
          const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
          const url = request.url ?? "";
          response.writeHead(status, { "content-type": "text/plain" });
          response.end(`Cannot do ${url}, which is ${decodeURIComponent(url)}, with ${token}: ${body}`);
        });
      });
      expect(leaked(await failure(address(server.url)))).toEqual([]);
    }
  });

  it.each<[string, object]>([
    ["a user part", { url: `https://user:${encoded}@a.example/mcp` }],
    ["a user part without a password", { url: `https://${encoded}@a.example/mcp` }],
    ["a URL of another scheme", { url: `ftp://a.example/mcp?key=${encoded}` }],
    ["headers in one text", { url: "https://a.example", headers: `Bearer ${secret}` }],
    ["variables in one text", { command: "a", env: `KEY=${secret}` }],
    ["arguments in one text", { command: "a", args: `--key ${secret}` }],
  ])("in %s is refused before it is used, without a quote", async (_, address) => {
    const output = await failure(address as never);
    expect(output).toContain("BuildError");
    expect(leaked(output)).toEqual([]);
  });

  it("in a text in place of an address is not quoted", async () => {
    expect(leaked(await failure(`https://user:${encoded}@a.example` as never))).toEqual([]);
  });

  it("of a program is not in its last output, however much it writes, and not in the error of a missing one", async () => {
    const script = "console.error('bad ' + process.env.A + ' '.repeat(1_990)); process.exit(1)";
    expect(
      leaked(await failure({ command: process.execPath, args: ["-e", script], env: { A: secret } })),
    ).toEqual([]);
    expect(leaked(await failure({ command: "no-such-program", args: [secret] }))).toEqual([]);
    const quote = "console.error(...process.argv); process.exit(1)";
    const args = ["--api-key", secret, `TOKEN=${secret}`, "--header", `Authorization: Bearer ${secret}`];
    expect(leaked(await failure({ command: process.execPath, args: ["-e", quote, "--", ...args] }))).toEqual(
      [],
    );
  });

  it("is not in what a tool returns, and other values of the environment are", async () => {
    await using server = await bareHttpServer({
      quote: (response, id, request) =>
        says(`${String(request.headers["x-api-key"])} in ${String(request.headers["x-folder"])}`)(
          response,
          id,
          request,
        ),
      fail: (response) => void response.writeHead(502).end("The key is canary-7f3a."),
      refuse: (response, id) => {
        const error = { code: -32_603, message: "No such key: canary-7f3a in /data/project" };
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      },
      explain: (response, id) => {
        const result = { isError: true, content: [{ type: "text", text: "GET /?key=canary-7f3a: 500" }] };
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      },
    });
    const headers = { "x-api-key": "canary-7f3a", "x-folder": "/data/project" };
    await using connection = await connectMcp({ url: server.url, headers }, { name: "web" });
    expect(await runTool(connection.tools, "web_quote")).toMatchObject({
      content: "[secret] in /data/project",
    });
    expect(await runTool(connection.tools, "web_fail")).toMatchObject({
      error: expect.stringContaining("The key is [secret]."),
    });
    expect(await runTool(connection.tools, "web_refuse")).toMatchObject({
      error: expect.stringContaining("No such key: [secret] in [secret]."),
    });
    expect(await runTool(connection.tools, "web_explain")).toMatchObject({
      error: "GET /?key=[secret]: 500",
    });
  });
});
