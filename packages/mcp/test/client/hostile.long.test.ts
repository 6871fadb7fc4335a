import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectMcp, type McpConnection } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { endlessServer, hostileServer, listed } from "../support/servers.ts";
import { runTool, toolNamed } from "../support/tools.ts";

const connect = async (...names: readonly string[]): Promise<McpConnection> =>
  await connectMcp(hostileServer(names.map((name) => listed(name))), { name: "bad" });

describe("a server that dies during a call", () => {
  it("fails that call with its code; the next one starts the server again", async () => {
    await using connection = await connect("die", "count");
    const { tools } = connection;
    expect(await runTool(tools, "bad_count")).toMatchObject({ content: "call 1 of this process" });
    expect(await runTool(tools, "bad_die")).toEqual({
      isSuccess: false,
      error:
        "The connection to the MCP server of die was lost: Connection closed. The call may have had its effect. " +
        "The next call connects again.",
      code: "connection-lost",
    });
    expect(await runTool(tools, "bad_count")).toMatchObject({ content: "call 1 of this process" });
  });

  it("is not started again without end", async () => {
    await using connection = await connectMcp(hostileServer([listed("die")]), {
      name: "bad",
      maxReconnects: 2,
    });
    const codes: string[] = [];
    for (let call = 1; call <= 5; call += 1) {
      const outcome = await runTool(connection.tools, "bad_die");
      codes.push(outcome.isSuccess ? "success" : outcome.code);
    }
    expect(codes).toEqual([
      "connection-lost",
      "connection-lost",
      "connection-lost",
      "connect-failed",
      "connect-failed",
    ]);
  });
});

describe("a server that hangs", () => {
  it("fails the call when its signal aborts, and answers the next call", async () => {
    await using connection = await connect("hang", "count");
    const call = new AbortController();
    const running = runTool(connection.tools, "bad_hang", {}, { signal: call.signal });
    call.abort(new DOMException("late", "TimeoutError"));
    expect(await running).toMatchObject({ isSuccess: false, code: "cancelled" });
    expect(await runTool(connection.tools, "bad_count")).toMatchObject({ isSuccess: true });
  });

  it("fails its open calls when the application closes the connection", async () => {
    const connection = await connect("hang");
    const running = runTool(connection.tools, "bad_hang");
    await connection.close();
    expect(await running).toMatchObject({ isSuccess: false, code: "closed" });
    expect(await runTool(connection.tools, "bad_hang")).toMatchObject({ code: "closed" });
  });

  it("is not waited for longer than connectTimeoutMs", async () => {
    const silent = { command: process.execPath, args: ["-e", "process.stdin.resume()"] };
    await expect(connectMcp(silent, { name: "bad", connectTimeoutMs: 50 })).rejects.toMatchObject({
      code: "connect-failed",
      message: expect.stringContaining("it did not answer within 50 ms."),
    });
  });
});

describe("a server behind a launcher", () => {
  it.each([
    ["keeps running", ""],
    ["ignores SIGTERM", "trap '' TERM; "],
  ])("is closed with what the launcher has started, also if it %s", async (_, trap) => {
    const folder = mkdtempSync(join(tmpdir(), "moora-launcher-"));
    const file = join(folder, "pid");
    const { command, args = [] } = hostileServer([listed("count")]);
    const script = `${trap}sleep 600 & echo $! > "$0"; "$@"; wait`;
    const connection = await connectMcp(
      { command: "sh", args: ["-c", script, file, command, ...args] },
      { name: "bad" },
    );
    const pid = Number(readFileSync(file, "utf8"));
    rmSync(folder, { recursive: true });
    expect(process.kill(pid, 0)).toBe(true);
    await connection.close();
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});

describe("a server that answers too much", () => {
  it("of 50 MB fails the call without keeping it, and is started again", async () => {
    await using connection = await connect("huge", "count");
    expect(await runTool(connection.tools, "bad_huge")).toEqual({
      isSuccess: false,
      error:
        "The result of the MCP tool huge is larger than 4194304 bytes. The call ran and may have had its effect. " +
        "Ask for less, or raise maxResultBytes.",
      code: "result-too-large",
    });
    expect(await runTool(connection.tools, "bad_count")).toMatchObject({
      content: "call 1 of this process",
    });
  });

  it("while other calls are open fails them all as lost: the message may belong to any of them", async () => {
    await using connection = await connect("hang", "huge", "count");
    const open = Promise.all(["bad_hang", "bad_hang"].map((name) => runTool(connection.tools, name)));
    const outcomes = [await runTool(connection.tools, "bad_huge"), ...(await open)];
    expect(outcomes).toHaveLength(3);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        isSuccess: false,
        code: "connection-lost",
        error: expect.stringContaining("sent a message over the limit while 3 calls were open."),
      });
    }
    expect(await runTool(connection.tools, "bad_count")).toMatchObject({ isSuccess: true });
  });

  it("is held to maxResultBytes", async () => {
    const server = hostileServer([listed("large")]);
    await using small = await connectMcp(server, { name: "bad", maxResultBytes: 2_000 });
    expect(await runTool(small.tools, "bad_large")).toMatchObject({ code: "result-too-large" });
    await using large = await connectMcp(server, { name: "bad", maxResultBytes: 4_000 });
    expect(await runTool(large.tools, "bad_large")).toMatchObject({ isSuccess: true });
  });

  it("about its progress is cut to short texts", async () => {
    await using connection = await connect("flood");
    const texts: string[] = [];
    await runTool(connection.tools, "bad_flood", {}, { progress: (text) => texts.push(text) });
    expect(texts.length).toBeGreaterThan(100);
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(1_000);
  });
});

describe("a server that does not follow the protocol", () => {
  it("can print what is not JSON, and answer what was not asked", async () => {
    await using connection = await connect("noise");
    expect(await runTool(connection.tools, "bad_noise")).toMatchObject({ content: "after the noise" });
  });

  it.each([
    ["not-base64", "Invalid Base64"],
    ["not-a-result", "expected array"],
  ])("with a result that is %s fails the call", async (name, problem) => {
    await using connection = await connect(name);
    const outcome = await runTool(connection.tools, `bad_${name}`);
    expect(outcome).toMatchObject({
      isSuccess: false,
      code: "invalid-result",
      error: expect.stringContaining(problem),
    });
  });

  it.each([
    ["not-as-promised", "sum"],
    ["count", "it has no structured content"],
  ])(
    "with a result of %s that does not fit its output schema fails the call, which ran",
    async (name, problem) => {
      const outputSchema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
      const server = hostileServer([listed(name, { outputSchema })]);
      await using connection = await connectMcp(server, { name: "bad" });
      const outcome = await runTool(connection.tools, `bad_${name}`);
      expect(outcome).toMatchObject({
        isSuccess: false,
        code: "invalid-result",
        error: expect.stringMatching(/The call ran and may have had its effect\.$/),
      });
      expect(outcome).toMatchObject({ error: expect.stringContaining(problem) });
    },
  );

  it("without content succeeds without output", async () => {
    await using connection = await connect("empty");
    expect(await runTool(connection.tools, "bad_empty")).toEqual({ isSuccess: true, content: "" });
  });

  it("cannot break out of a data URL with its media type", async () => {
    await using connection = await connect("odd-media-type");
    expect(await runTool(connection.tools, "bad_odd-media-type")).toMatchObject({
      files: [{ mediaType: "application/octet-stream", url: "data:application/octet-stream;base64,AAAA" }],
    });
  });

  it("that refuses a call is quoted", async () => {
    await using connection = await connect("refuse");
    expect(await runTool(connection.tools, "bad_refuse")).toEqual({
      isSuccess: false,
      error:
        "The MCP server answered the call of refuse with an error: not today. The call may have had its effect.",
      code: "refused",
    });
  });
});

describe("names and schemas of a stranger", () => {
  it("become valid names that begin with the name of the server", async () => {
    await using connection = await connect("a.b/c d", "x".repeat(200), `${"x".repeat(199)}y`, "__proto__");
    const names = connection.tools.map(({ name }) => name);
    expect(names[0]).toBe("bad_a_b_c_d");
    expect(names[3]).toBe("bad___proto__");
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(await runTool(connection.tools, names[1] ?? "")).toMatchObject({ isSuccess: true });
  });

  it("that collide are refused, unless a rule separates them", async () => {
    const server = hostileServer([listed("a.b"), listed("a/b")]);
    await expect(connectMcp(server, { name: "bad" })).rejects.toMatchObject({
      name: "McpError",
      code: "name-collision",
      message:
        'The MCP server bad lists the tools "a.b" and "a/b", which both have the name bad_a_b. ' +
        "Give one of them another name, or leave it out, with the option rule.",
    });
    await using renamed = await connectMcp(server, {
      name: "bad",
      rule: ({ name }) => (name === "a/b" ? { name: "bad_other" } : undefined),
    });
    expect(renamed.tools.map(({ name }) => name)).toEqual(["bad_a_b", "bad_other"]);
    await using one = await connectMcp(server, {
      name: "bad",
      rule: ({ name }) => ({ include: name === "a.b" }),
    });
    expect(one.tools.map(({ name }) => name)).toEqual(["bad_a_b"]);
  });

  it("that cannot be used are skipped with the reason, and the other tools work", async () => {
    const skipped: string[] = [];
    const big = { type: "object", description: "x".repeat(110_000) };
    await using connection = await connectMcp(
      hostileServer([
        listed("big", { inputSchema: big }),
        listed("zod", { inputSchema: { type: "object", "~standard": {} } }),
        listed("remote", { inputSchema: { type: "object", properties: { a: { $ref: "https://a.test" } } } }),
        listed("none", { inputSchema: { type: "object", allOf: [{ type: "string" }] } }),
        listed("count"),
      ]),
      { name: "bad", onSkipped: ({ name, reason }) => skipped.push(`${name}: ${reason.slice(0, 120)}`) },
    );
    expect(connection.tools.map(({ name }) => name)).toEqual(["bad_count"]);
    expect(skipped).toEqual([
      expect.stringMatching(/^big: Its schema has 110\d+/),
      expect.stringMatching(/^zod: /),
      expect.stringContaining("remote: "),
      expect.stringContaining("none: The input of the tool bad_none must be an object"),
    ]);
  });

  it.each<[string, object]>([
    ["is not a JSON Schema", { type: "object", "~standard": {} }],
    ["refers to what is not there", { type: "object", properties: { sum: { $ref: "#/$defs/Sum" } } }],
    ["refers to itself without end", { type: "object", $ref: "#" }],
    ["is too large", { type: "object", description: "x".repeat(110_000) }],
  ])("with an output schema that %s lose its check, and not the tool", async (_, outputSchema) => {
    const skipped: string[] = [];
    const server = hostileServer([listed("not-as-promised", { outputSchema }), listed("count")]);
    await using connection = await connectMcp(server, {
      name: "bad",
      onSkipped: ({ name }) => skipped.push(name),
    });
    expect(skipped).toEqual([]);
    expect(await runTool(connection.tools, "bad_not-as-promised")).toEqual({
      isSuccess: true,
      content: '{"sum":"three"}',
    });
  });

  it.each<[string, object]>([
    ["a schema of another type", { inputSchema: { type: "string" } }],
    ["no schema", { inputSchema: undefined }],
    ["an output schema that is a text", { outputSchema: "object" }],
    ["a description that is a number", { description: 5 }],
    ["annotations that are a text", { annotations: "harmless" }],
  ])(
    "that the protocol does not allow are skipped with the reason, and the other tools work: %s",
    async (_, fields) => {
      const skipped: string[] = [];
      const [field = ""] = Object.keys(fields);
      await using connection = await connectMcp(
        hostileServer(
          [listed("count"), listed("wrong", fields), listed("change")],
          [listed("wrong", fields)],
        ),
        { name: "bad", onSkipped: ({ name, reason }) => skipped.push(`${name}: ${reason}`) },
      );
      expect(connection.tools.map(({ name }) => name)).toEqual(["bad_count", "bad_change"]);
      expect(skipped).toEqual([expect.stringMatching(`^wrong: It does not follow the protocol: ${field}`)]);
      expect(await runTool(connection.tools, "bad_count")).toMatchObject({ isSuccess: true });

      const changed = Promise.withResolvers<readonly unknown[]>();
      connection.onToolsChanged(changed.resolve);
      await runTool(connection.tools, "bad_change");
      expect(await changed.promise).toEqual([]);
      expect(skipped, "reported once").toHaveLength(1);
    },
  );

  it("without a name are skipped by their place in the list", async () => {
    const skipped: string[] = [];
    const nameless = { ...listed(""), name: 7 as never };
    await using connection = await connectMcp(hostileServer([listed("count"), nameless]), {
      name: "bad",
      onSkipped: ({ name }) => skipped.push(name),
    });
    expect(connection.tools).toHaveLength(1);
    expect(skipped).toEqual(["tools[1]"]);
  });

  it.each([
    ["of tools", [listed("count")]],
    ["of nothing", []],
    ["of tools that the protocol does not allow", [listed("wrong", { inputSchema: { type: "string" } })]],
  ])("in a list without an end, %s, are refused", async (_, page) => {
    await expect(connectMcp(endlessServer(...page), { name: "bad" })).rejects.toMatchObject({
      name: "McpError",
      code: "too-many-tools",
      message: "The MCP server bad lists its tools on more than 64 pages.",
    });
  });

  it("with regular expressions that never end do not block the process", async () => {
    const inputSchema = { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } };
    await using connection = await connectMcp(hostileServer([listed("count", { inputSchema })]), {
      name: "bad",
    });
    const text = `${"a".repeat(60)}!`;
    expect(await runTool(connection.tools, "bad_count", { text })).toMatchObject({ isSuccess: true });
    expect(toolNamed(connection.tools, "bad_count").definition.schema).toContain("^(a+)+$");
  });

  it("that refer to themselves without end fail the check, not the process", async () => {
    const inputSchema = { type: "object", $ref: "#" };
    await using connection = await connectMcp(hostileServer([listed("count", { inputSchema })]), {
      name: "bad",
    });
    expect(await runTool(connection.tools, "bad_count")).toMatchObject({ code: "invalid-arguments" });
  });

  it("of more than a thousand tools are refused", async () => {
    const many = Array.from({ length: 1_001 }, (_, index) => listed(`tool${index}`));
    await expect(connectMcp(hostileServer(many), { name: "bad" })).rejects.toMatchObject({
      code: "too-many-tools",
    });
  });
});

describe("a server without tools", () => {
  it("gives none", async () => {
    await using connection = await connectMcp(hostileServer([]), { name: "bad" });
    expect(connection.tools).toEqual([]);
  });
});

describe("a server that changes its tools", () => {
  it("reports the new ones; a tool that was removed or has another meaning is not called", async () => {
    await using connection = await connectMcp(
      hostileServer(
        [listed("change"), listed("count"), listed("removed")],
        [
          listed("change", { description: "Another text." }),
          listed("count", { annotations: { destructiveHint: true } }),
          listed("new"),
        ],
      ),
      { name: "bad" },
    );
    const before = connection.tools;
    const changed = Promise.withResolvers<readonly string[]>();
    connection.onToolsChanged((tools) => changed.resolve(tools.map(({ name }) => name)));
    await runTool(before, "bad_change");
    expect(await changed.promise).toEqual(["bad_change", "bad_count", "bad_new"]);
    expect(await runTool(before, "bad_removed")).toEqual({
      isSuccess: false,
      error:
        "The MCP server bad no longer lists the tool removed since this agent was defined. The call was not sent.",
      code: "tool-changed",
    });
    expect(await runTool(before, "bad_count")).toMatchObject({ code: "tool-changed" });
    expect(await runTool(before, "bad_change")).toMatchObject({ isSuccess: true });
    expect(await runTool(connection.tools, "bad_count")).toMatchObject({ isSuccess: true });
    expect(toolNamed(connection.tools, "bad_count").definition.risk).toBe("critical");
  });

  it("to a list that cannot be used reports the error, and the tools stay as they were", async () => {
    const errors: Error[] = [];
    const reported = Promise.withResolvers<void>();
    await using connection = await connectMcp(
      hostileServer([listed("change")], [listed("a.b"), listed("a/b")]),
      {
        name: "bad",
        onError(error) {
          errors.push(error);
          reported.resolve();
        },
      },
    );
    await runTool(connection.tools, "bad_change");
    await reported.promise;
    expect(errors).toMatchObject([{ code: "name-collision" }]);
    expect(connection.tools.map(({ name }) => name)).toEqual(["bad_change"]);
    expect(await runTool(connection.tools, "bad_change")).toMatchObject({ isSuccess: true });
  });
});
