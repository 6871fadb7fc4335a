import { connectMcp } from "@moora/mcp";
import { afterEach, expect, it, vi } from "vitest";

afterEach(() => vi.doUnmock("@modelcontextprotocol/client"));

it("a package of the protocol that is there but broken is not reported as missing", async () => {
  vi.doMock("@modelcontextprotocol/client", () => {
    throw new SyntaxError("Unexpected end of input");
  });
  await expect(connectMcp({ url: "http://127.0.0.1:9" }, { name: "a" })).rejects.toMatchObject({
    code: "not-installed",
    message: expect.stringContaining("The package @modelcontextprotocol/client cannot be loaded: "),
  });
});
