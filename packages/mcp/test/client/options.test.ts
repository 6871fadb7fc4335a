import { fileURLToPath } from "node:url";
import { connectMcp, mcpTools } from "@moora/mcp";
import { describe, expect, it } from "vitest";

describe("options", () => {
  const server = { command: "unused" };

  it.each<[string, object, string]>([
    ["no name", {}, "name must have 1 to 32 letters"],
    ["a name with a blank", { name: "a b" }, 'or digit, got "a b".'],
    [
      "a limit of zero",
      { name: "a", maxResultBytes: 0 },
      "maxResultBytes must be a positive integer, got 0.",
    ],
    ["a rule that cannot be called", { name: "a", rule: {} }, "rule must be a function, got an object."],
    ["a text as trust", { name: "a", trust: "yes" }, 'trust must be true or false, got "yes".'],
    ["a list", [], "connectMcp needs an object of options, got an array."],
  ])("with %s are refused", async (_, options, message) => {
    await expect(connectMcp(server, options as never)).rejects.toMatchObject({
      name: "BuildError",
      message: expect.stringContaining(message),
    });
  });

  it.each<[string, object, string]>([
    ["nothing", {}, "connectMcp needs { command, args } or { url, headers } as its first argument"],
    [
      "another protocol",
      { url: "file:///etc/passwd" },
      "url must be a URL that begins with http:// or https://",
    ],
    ["a command line in one text", { command: "" }, "command must be the name of a program, got a string."],
    ["arguments that are not texts", { command: "a", args: [1] }, "args must be a list of strings"],
    ["an unknown field", { command: "a", arg: [] }, 'Unknown option "arg"'],
    [
      "variables that are not texts",
      { command: "a", env: { PORT: 80 } },
      "env must be an object whose values are strings, got an object.",
    ],
    ["a folder that is not a text", { command: "a", cwd: true }, "cwd must be a string, got true."],
    [
      "a token in place of headers",
      { url: "https://a.example", headers: "Bearer x" },
      "headers must be an object whose values are strings, or a function that returns one, got a string.",
    ],
    [
      "two kinds",
      { url: "https://a.example", command: "a" },
      'Unknown option "command" of a server at a URL',
    ],
  ])("with an address of %s are refused", async (_, address, message) => {
    await expect(connectMcp(address as never, { name: "a" })).rejects.toMatchObject({
      name: "BuildError",
      message: expect.stringContaining(message),
    });
  });

  it.each<[string, unknown, object, string]>([
    ["nothing", undefined, { name: "a" }, "mcpTools needs a connected client"],
    ["an address", server, { name: "a" }, "For an address, use connectMcp."],
    [
      "a limit of connections",
      { listTools: () => undefined, callTool: () => undefined },
      { name: "a", maxReconnects: 1 },
      'Unknown option "maxReconnects" of mcpTools.',
    ],
  ])("of mcpTools with %s are refused", async (_, client, options, message) => {
    await expect(mcpTools(client as never, options as never)).rejects.toMatchObject({
      name: "BuildError",
      message: expect.stringContaining(message),
    });
  });

  it("that name a program that does not exist fail with it, and without its arguments", async () => {
    const secret = { command: "no-such-program", args: ["--key", "sk-secret"] };
    await expect(connectMcp(secret, { name: "a" })).rejects.toMatchObject({
      code: "connect-failed",
      message:
        'Cannot connect to the MCP server a (no-such-program): The program "no-such-program" was not found. Install it, or give its path.',
    });
  });

  it.each(["/no/such/folder", fileURLToPath(import.meta.url)])(
    "that name %s as the working folder fail with it, and not with the program",
    async (cwd) => {
      await expect(connectMcp({ command: process.execPath, cwd }, { name: "a" })).rejects.toMatchObject({
        code: "connect-failed",
        message: `Cannot connect to the MCP server a (${process.execPath}): cwd must be a folder that exists, got "${cwd}".`,
      });
    },
  );

  it("that give a program and its arguments in one text fail with the fix, and without the arguments", async () => {
    await expect(connectMcp({ command: "npx server --key sk-secret" }, { name: "a" })).rejects.toMatchObject({
      code: "connect-failed",
      message:
        "Cannot connect to the MCP server a (npx): command must be a program without arguments. Give the arguments as a list, in args.",
    });
  });

  it("that name a program that ends at once fail with its last output", async () => {
    const failing = { command: process.execPath, args: ["-e", "console.error('no key'); process.exit(1)"] };
    await expect(connectMcp(failing, { name: "a" })).rejects.toMatchObject({
      code: "connect-failed",
      message: expect.stringContaining("Its last output: no key"),
    });
  });
});
