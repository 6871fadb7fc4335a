import { parseMcpConfig } from "@moora/mcp";
import { describe, expect, it } from "vitest";

const parse = (servers: unknown, env: Record<string, string> = {}) =>
  parseMcpConfig(JSON.stringify({ mcpServers: servers }), env);

describe("a configuration file", () => {
  it("names programs and URLs, and may have fields of other tools", () => {
    const servers = parse({
      files: {
        type: "stdio",
        command: "npx",
        args: ["-y", "server-files"],
        env: { A: "1" },
        autoApprove: [],
      },
      "my web": { type: "http", url: "https://a.example/mcp", headers: { Authorization: "Bearer x" } },
      off: { command: "never", disabled: true },
    });
    expect(servers).toEqual([
      { name: "files", server: { command: "npx", args: ["-y", "server-files"], env: { A: "1" } } },
      { name: "my_web", server: { url: "https://a.example/mcp", headers: { Authorization: "Bearer x" } } },
    ]);
  });

  it("takes values from the environment, with defaults", () => {
    const servers = parse(
      { a: { command: "${HOME}/bin/a", args: ["${PORT:-80}", "${NONE:-}"], env: { KEY: "key ${KEY}" } } },
      { HOME: "/home/ada", KEY: "k" },
    );
    expect(servers[0]?.server).toEqual({
      command: "/home/ada/bin/a",
      args: ["80", ""],
      env: { KEY: "key k" },
    });
  });

  it.each<[string, unknown, string]>([
    [
      "a variable that is not set",
      { a: { command: "${NOPE}" } },
      "mcpServers.a.command uses the environment variable NOPE",
    ],
    ["a server without an address", { a: {} }, "mcpServers.a needs command or url."],
    ["a server that is a text", { a: "npx" }, "mcpServers.a must be an object."],
    [
      "arguments in one text",
      { a: { command: "a", args: "-x" } },
      "mcpServers.a.args must be a list of strings.",
    ],
    [
      "a number as a variable",
      { a: { command: "a", env: { A: 1 } } },
      "mcpServers.a.env.A must be a string.",
    ],
    ["the old transport", { a: { type: "sse", url: "https://a.example" } }, 'uses the transport "sse"'],
    [
      "names that become the same",
      { "a b": { command: "a" }, a_b: { command: "a" } },
      "Two servers have the name a_b.",
    ],
    ["a name without letters", { "--": { command: "a" } }, 'must begin with a letter or digit, got "--".'],
  ])("with %s is refused", (_, servers, message) => {
    expect(() => parse(servers)).toThrow(message);
  });

  it.each(["", "{", "[]", '{"mcpServers":[]}', '{"servers":{}}'])("that is %j is refused", (text) => {
    expect(() => parseMcpConfig(text)).toThrow('It must be JSON of the form { "mcpServers": { ... } }.');
  });
});
