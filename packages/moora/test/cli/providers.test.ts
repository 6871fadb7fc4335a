import type { IncomingMessage } from "node:http";
import type { Clock } from "@moora/agent";
import { describe, expect, it } from "vitest";
import { chooseLlm } from "../../src/cli/choose-llm.ts";
import type { Options } from "../../src/cli/options.ts";
import { providers } from "../../src/cli/providers.ts";
import { FakeProvider, hangs, refuses, says, type ProviderStep } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";

const chosen = (options: Options, env: Record<string, string> = {}) => chooseLlm(options, env);

describe("which model answers", () => {
  it("the planner, without options and keys", () => {
    expect(chosen({}).provider.name).toBe("planner");
    expect(chosen({}, { OPENAI_API_KEY: "  " }).provider.name).toBe("planner");
  });

  it.each(providers.filter(({ keyName, name }) => keyName !== undefined && name !== "openai-chat"))(
    "$name, when its key alone is set",
    ({ name, keyName = "" }) => {
      const { provider, model, llm } = chosen({ model: "m" }, { [keyName]: "key" });
      expect([provider.name, model]).toEqual([name, "m"]);
      expect(llm.name).toBe(name);
    },
  );

  it("the first in the order of the table, when several keys are set", () => {
    expect(chosen({ model: "m" }, { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o" }).provider.name).toBe(
      "openai",
    );
  });

  it("that of the options, then that of the environment", () => {
    const env = { MOORA_PROVIDER: "ollama", MOORA_MODEL: "small", OPENAI_API_KEY: "o" };
    expect(chosen({}, env)).toMatchObject({ provider: { name: "ollama" }, model: "small" });
    expect(chosen({ provider: "OpenAI", model: "large" }, env)).toMatchObject({
      provider: { name: "openai" },
      model: "large",
    });
    expect(chosen({ provider: "planner" }, env)).toMatchObject({ provider: { name: "planner" }, model: "" });
  });

  it("reaches every provider that has an address of its own", async () => {
    for (const { name, keyName, sdk } of providers) {
      if (name === "planner" || name === "openai" || name === "anthropic") continue;
      if (sdk?.startsWith("@ai-sdk/") === true) continue;
      await using server = await FakeProvider.start(says("hi"));
      const host = new TestHost({ env: keyName === undefined ? {} : { [keyName]: "key" } });
      const code = await host.run(["run", "x", "--provider", name, "--model", "m", "--base-url", server.url]);
      expect([name, code, host.stdout.text]).toEqual([name, 0, "hi\n"]);
    }
  });
});

/** A clock on which every wait is over at once: retries need no time. */
class HastyClock implements Clock {
  #time = 0;
  readonly now = (): number => this.#time;
  readonly after = (ms: number, callback: () => void): (() => void) => {
    const timer = setImmediate(() => {
      this.#time += ms;
      callback();
    });
    return () => clearImmediate(timer);
  };
}

async function explainedBy(
  ...script: readonly ProviderStep[]
): Promise<{ code: number; words: string; tries: number }> {
  await using server = await FakeProvider.start(...script);
  const host = new TestHost();
  host.clock = new HastyClock();
  const code = await host.run(["run", "x", ...server.options]);
  return { code, words: host.stderr.lines.at(-1) ?? "", tries: server.bodies.length };
}

describe("a failure is explained in a sentence or two", () => {
  it.each([
    [
      401,
      { error: { message: "Incorrect API key provided" } },
      "local rejected the API key. Incorrect API key provided",
    ],
    [
      429,
      { error: { message: "You exceeded your quota", code: "insufficient_quota" } },
      "The account at local has no credit left. insufficient_quota You exceeded your quota",
    ],
    [
      404,
      { error: { message: "The model `fake` does not exist", code: "model_not_found" } },
      'local does not have the model "fake". Choose another one with --model.',
    ],
    [
      400,
      {
        error: {
          message: "This model's maximum context length is 8 tokens",
          code: "context_length_exceeded",
        },
      },
      "The conversation is too long for fake. Start a new session, or read less at a time.",
    ],
    [
      400,
      { error: { message: "temperature is out of range" } },
      "local did not answer. temperature is out of range",
    ],
  ])("status %i %j", async (status, body, words) => {
    const explained = await explainedBy(...Array.from({ length: 3 }, () => refuses(status, body)));
    expect(explained).toMatchObject({ code: 1, words: expect.stringContaining(words) });
  });

  it.each([
    [429, "local received too many requests from this account. Try again later."],
    [500, "local reported an error of its own."],
    [529, "local is overloaded. Try again later."],
  ])("status %i is retried first, and the notice says why", async (status, words) => {
    const explained = await explainedBy(
      ...Array.from({ length: 8 }, () => refuses(status, { error: { message: "no" } })),
    );
    expect(explained).toMatchObject({ code: 1, words: expect.stringContaining(words), tries: 4 });
    const better = await explainedBy(refuses(status, { error: { message: "no" } }), says("ok"));
    expect(better).toMatchObject({
      code: 0,
      words: expect.stringMatching(/^local (received|reported|is) .*\. Trying again in \d+ s\.$/),
    });
  });

  it("a provider that sends nothing, once --timeout has passed", async () => {
    await using server = await FakeProvider.start(hangs(""));
    const host = new TestHost();
    const code = host.run(["run", "x", "--timeout", "1", ...server.options]);
    await host.stderr.shows("local sent nothing for 1 s. Trying again in 1 s.\n");
    host.interrupt();
    expect(await code).toBe(130);
  });

  it("no connection, with the first notice", async () => {
    const server = await FakeProvider.start();
    const { options } = server;
    await server[Symbol.asyncDispose]();
    const host = new TestHost();
    const code = host.run(["run", "x", ...options]);
    await host.stderr.shows("Trying again in 1 s.\n");
    expect(host.stderr.text).toMatch(/^Cannot connect to local\. .*ECONNREFUSED.*\. Trying again in 1 s\.\n/);
    host.interrupt();
    expect(await code).toBe(130);
  });

  it("the reason of a retry in lines of JSON", async () => {
    await using server = await FakeProvider.start(refuses(529, { error: { message: "busy" } }), says("ok"));
    const host = new TestHost();
    host.clock = new HastyClock();
    expect(await host.run(["run", "x", "--json", ...server.options])).toBe(0);
    const rows = host.stdout.lines.map((line) => JSON.parse(line));
    expect(rows.find(({ type }) => type === "LlmRetryScheduled")).toMatchObject({
      reason: "overloaded",
      message: expect.stringContaining("busy"),
    });
  });

  it("no connection", async () => {
    const server = await FakeProvider.start();
    const { options } = server;
    await server[Symbol.asyncDispose]();
    const host = new TestHost();
    host.clock = new HastyClock();
    expect(await host.run(["run", "x", ...options])).toBe(1);
    expect(host.stderr.lines.at(-1)).toMatch(/^Cannot connect to local\. .*ECONNREFUSED.*Check the network/);
  });
});

describe("(M06) keys are not printed", () => {
  const key = "sk-canary/7f3a+q?x";
  const forms = [
    key,
    encodeURIComponent(key),
    Buffer.from(key).toString("base64").replace(/=+$/, ""),
    JSON.stringify(key).slice(1, -1),
  ];
  const echo = (request: IncomingMessage): object => ({
    error: {
      message: `Bad key ${request.headers.authorization}, that is ${encodeURIComponent(key)} or ${forms[2]}`,
      param: key,
    },
  });

  it.each([["run"], ["run", "--json"], ["run", "--trace"]])(
    "%s %s: not from a server that repeats them",
    async (...args) => {
      for (const status of [400, 401, 403, 404, 422]) {
        await using server = await FakeProvider.start(refuses(status, echo), refuses(status, echo));
        const host = new TestHost({
          env: { OPENAI_API_KEY: key, GROQ_API_KEY: `${key}-other`, MISTRAL_API_KEY: "canary-mistral" },
        });
        await host.run([...args, "x", "--provider", "openai-chat", "--model", "m", "--base-url", server.url]);
        for (const form of [...forms, "canary-mistral"])
          expect(host.stdout.text + host.stderr.text).not.toContain(form);
      }
    },
  );

  it("not from an address with a password in it", async () => {
    const host = new TestHost({ env: { OPENAI_API_KEY: key } });
    host.clock = new HastyClock();
    await host.run([
      "run",
      "x",
      "--provider",
      "openai",
      "--model",
      "m",
      "--base-url",
      "http://user-canary:pass-canary@127.0.0.1:1/v1",
    ]);
    expect(host.stdout.text + host.stderr.text).not.toMatch(/user-canary|pass-canary/);
    expect(host.stdout.text + host.stderr.text).not.toContain(key);
  });

  it("not from an invalid command line", async () => {
    const host = new TestHost({ env: { OPENAI_API_KEY: key } });
    await host.run(["run", "x"]);
    expect(host.stderr.text).toContain("Missing model for openai.");
    expect(host.stderr.text).not.toContain(key);
  });
});
