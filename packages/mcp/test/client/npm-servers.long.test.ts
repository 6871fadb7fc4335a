import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, runTask } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { connectMcp, type McpServerAddress } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { everythingOverHttp, npmServer } from "../support/servers.ts";
import { runTool, toolNamed } from "../support/tools.ts";

/** A server at an address, with what ends it. */
interface OpenedAddress extends AsyncDisposable {
  readonly address: McpServerAddress;
}

const transports: Readonly<Record<string, () => Promise<OpenedAddress>>> = {
  "standard input and output": () =>
    Promise.resolve({ address: npmServer("everything"), [Symbol.asyncDispose]: () => Promise.resolve() }),
  HTTP: async () => {
    const server = await everythingOverHttp();
    return { address: { url: server.url }, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  },
};

describe.each(Object.entries(transports))("the server everything over %s", (_, open) => {
  it("gives its tools with their schemas; one that works only as a task is skipped with the reason", async () => {
    await using server = await open();
    const skipped: string[] = [];
    await using connection = await connectMcp(server.address, {
      name: "every",
      onSkipped: ({ name, reason }) => skipped.push(`${name}: ${reason}`),
    });
    expect(JSON.parse(toolNamed(connection.tools, "every_get-sum").definition.schema)).toMatchObject({
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    });
    expect(skipped).toContain(
      "simulate-research-query: It works only as a task of the protocol, which is not supported.",
    );
    expect(connection.instructions).toContain("Everything Server");
  });

  it("answers calls with text, files, structured content and progress", async () => {
    await using server = await open();
    await using connection = await connectMcp(server.address, { name: "every" });
    const { tools } = connection;
    expect(await runTool(tools, "every_get-sum", { a: 2, b: 3 })).toEqual({
      isSuccess: true,
      content: "The sum of 2 and 3 is 5.",
    });
    const image = await runTool(tools, "every_get-tiny-image");
    expect(image).toMatchObject({
      isSuccess: true,
      files: [{ mediaType: "image/png", url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) }],
    });
    expect(await runTool(tools, "every_get-structured-content", { location: "New York" })).toEqual({
      isSuccess: true,
      content: '{"temperature":33,"conditions":"Cloudy","humidity":82}',
    });
    const links = await runTool(tools, "every_get-resource-links", { count: 2 });
    expect(links).toMatchObject({ content: expect.stringContaining("demo://resource/dynamic/text/2") });
    const progress: string[] = [];
    await runTool(
      tools,
      "every_trigger-long-running-operation",
      { duration: 0.6, steps: 3 },
      { progress: (text) => progress.push(text) },
    );
    // The SDK drops progress that arrives together with the result.
    expect(["1/3", "2/3", "3/3"].slice(0, progress.length)).toEqual(progress);
    expect(progress.length).toBeGreaterThan(0);
  });

  it("refuses arguments that do not fit before anything is sent", async () => {
    await using server = await open();
    await using connection = await connectMcp(server.address, { name: "every" });
    expect(await runTool(connection.tools, "every_get-sum", { a: "two", b: 3 })).toMatchObject({
      isSuccess: false,
      code: "invalid-arguments",
    });
  });

  it("stops a call whose signal aborts", async () => {
    await using server = await open();
    await using connection = await connectMcp(server.address, { name: "every" });
    const call = new AbortController();
    const outcome = await runTool(
      connection.tools,
      "every_trigger-long-running-operation",
      { duration: 600, steps: 60_000 },
      { signal: call.signal, progress: () => call.abort() },
    );
    expect(outcome).toMatchObject({ isSuccess: false, code: "cancelled" });
    expect(await runTool(connection.tools, "every_echo", { message: "still here" })).toMatchObject({
      content: "Echo: still here",
    });
  });

  it("asks a person with onElicitation, and does not offer to without", async () => {
    await using server = await open();
    const asked: string[] = [];
    await using connection = await connectMcp(server.address, {
      name: "every",
      onElicitation: ({ message, schema, server: name }) => {
        asked.push(`${name}: ${message} ${Object.keys(schema["properties"] ?? {}).includes("name")}`);
        return { action: "accept", content: { name: "Ada", check: true } };
      },
    });
    const outcome = await runTool(connection.tools, "every_trigger-elicitation-request");
    expect(asked).toEqual([expect.stringMatching(/^every: .+ true$/)]);
    expect(outcome).toMatchObject({ isSuccess: true, content: expect.stringContaining("Ada") });
    await using silent = await connectMcp(server.address, { name: "every" });
    expect(silent.tools.map(({ name }) => name)).not.toContain("every_trigger-elicitation-request");
  });
});

describe("the server filesystem", () => {
  it("is used by an agent: the model calls its tools, and its refusals are errors for the model", async () => {
    const folder = mkdtempSync(join(tmpdir(), "moora-mcp-"));
    try {
      await using connection = await connectMcp(npmServer("filesystem", folder), { name: "files" });
      const path = join(folder, "notes.txt");
      const llm = new MockLlmCaller([
        callsTools([
          { name: "files_write_file", arguments: { path, content: "Buy milk." } },
          { name: "files_read_text_file", arguments: { path: "/etc/hostname" } },
        ]),
        answers("It is written."),
      ]);
      const agent = defineAgent({ llm, tools: connection.tools });
      const { text } = await runTask(agent, "Note: buy milk.");
      expect(text).toBe("It is written.");
      expect(readFileSync(path, "utf8")).toBe("Buy milk.");
      const [, second] = llm.requests;
      expect(JSON.stringify(second?.messages)).toContain("Access denied");
      expect(await runTool(connection.tools, "files_read_text_file", { path })).toEqual({
        isSuccess: true,
        content: "Buy milk.",
      });
      expect(await runTool(connection.tools, "files_list_directory", { path: folder })).toEqual({
        isSuccess: true,
        content: "[FILE] notes.txt",
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("has argument names that are also keywords of JSON Schema", async () => {
    const folder = mkdtempSync(join(tmpdir(), "moora-mcp-"));
    try {
      await using connection = await connectMcp(npmServer("filesystem", folder), { name: "files" });
      const search = toolNamed(connection.tools, "files_search_files");
      expect(await search.check(JSON.stringify({ path: folder, pattern: "*.txt" }))).toBeUndefined();
      expect(await search.check(JSON.stringify({ path: folder }))).toContain("pattern");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("the server memory", () => {
  it("keeps what one call has stored for the next, in the file that its environment names", async () => {
    const folder = mkdtempSync(join(tmpdir(), "moora-mcp-"));
    try {
      const file = join(folder, "memory.jsonl");
      await using connection = await connectMcp(
        { ...npmServer("memory"), env: { MEMORY_FILE_PATH: file } },
        { name: "memory" },
      );
      const entities = [{ name: "Ada", entityType: "person", observations: ["likes tea"] }];
      await runTool(connection.tools, "memory_create_entities", { entities });
      const graph = await runTool(connection.tools, "memory_read_graph");
      expect(graph).toMatchObject({ isSuccess: true, content: expect.stringContaining("likes tea") });
      expect(readFileSync(file, "utf8")).toContain("Ada");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
