import { ProtocolServer } from "@moora/llm/testing";
import { geminiDialect } from "@moora/testbed/google/gemini-dialect";
import { describe, expect, it } from "vitest";
import { aiSdkProviders } from "../../src/cli/ai-sdk-providers.ts";
import { Child } from "./child.ts";
import { TestHost } from "./test-host.ts";

const runWith = async (name: string, env: Record<string, string>, ...more: readonly string[]) => {
  const host = new TestHost({ env });
  const code = await host.run(["run", "x", "--provider", name, "--model", "m", ...more]);
  return { code, answer: host.stdout.text, words: host.stderr.text };
};

describe("a provider of the AI SDK", () => {
  it("answers on the command line", async () => {
    const server = new ProtocolServer(geminiDialect);
    server.serve({ type: "answer", answer: { text: ["hi"] } });
    const env = { GOOGLE_GENERATIVE_AI_API_KEY: "some-key" };
    const { code, answer } = await runWith("google", env, "--base-url", await server.listen());
    await server.close();
    expect([code, answer]).toEqual([0, "hi\n"]);
  });

  it("sends one request to the base URL, and reports that its key is rejected", async () => {
    const script = new Child([], import.meta.dirname, [`${import.meta.dirname}/ai-sdk-refusals.ts`]);
    expect(await script.ended()).toBe(0);
    expect(script.stdout.split("\n")).toEqual(
      aiSdkProviders.map(({ name }) => `${name}: auth after 1 request`),
    );
  });

  it("gets the results of tools through the package for Bedrock, also in a request without tools", async () => {
    const script = new Child([], import.meta.dirname, [`${import.meta.dirname}/ai-sdk-bedrock.ts`]);
    expect(await script.ended()).toBe(0);
    expect(script.stdout.split("\n")).toEqual([
      "the sum is 3",
      "the sum is 3",
      "toolConfig, toolUse, toolResult, the sum is 3",
    ]);
  });

  it.each(aiSdkProviders.filter(({ variables }) => variables !== undefined))(
    "$name names its environment variables where none is set",
    async ({ name, variables = [] }) => {
      const { code, words } = await runWith(name, {});
      expect(code).toBe(2);
      expect(words).toContain(`Missing settings for ${name} in the environment.`);
      for (const variable of variables.flat()) expect(words).toContain(variable);
    },
  );
});
