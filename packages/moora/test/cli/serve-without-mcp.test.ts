import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
  vi.doMock("@modelcontextprotocol/server", () => {
    throw new Error("Cannot find the package.");
  });
});
afterEach(() => {
  vi.doUnmock("@modelcontextprotocol/server");
  place[Symbol.dispose]();
});

it("moora serve leaves MCP out, and says why, where the package of the protocol cannot be loaded", async () => {
  const host = new TestHost({ cwd: place.path });
  const ended = host.start(["serve", "--port", "0"]);
  await host.stdout.shows("Listening on ");
  expect(host.stdout.text).toContain("MCP: off. The package @modelcontextprotocol/server cannot be loaded: ");
  const [, url = ""] = /Listening on (\S+)\. /.exec(host.stdout.text) ?? [];
  expect((await fetch(`${url}/mcp`, { method: "POST" })).status).toBe(404);
  host.interrupt();
  expect(await ended).toBe(130);
});
