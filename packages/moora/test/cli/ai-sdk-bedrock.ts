import { recordingFetch } from "@moora/llm/testing";
import { geminiDialect } from "@moora/testbed/google/gemini-dialect";
import { requestOf } from "@moora/testbed/request-of";
import { aiSdkProviders } from "../../src/cli/ai-sdk-providers.ts";

// A script, because the package for Amazon cannot be loaded through the module conditions of a test runner.
process.env["AWS_BEARER_TOKEN_BEDROCK"] = "some-key";
process.env["AWS_REGION"] = "some-region";
const bedrock = aiSdkProviders.find(({ name }) => name === "bedrock");
const { fetch, bodies } = recordingFetch(geminiDialect);
const tool = { name: "add", description: "Adds.", schema: { type: "object", properties: {} } } as const;
const messages = [
  ...requestOf().messages,
  {
    role: "assistant",
    turn: { origin: "", parts: [{ type: "tool-call", id: "1", name: "add", arguments: "{}" }] },
    results: [{ isError: false, content: "the sum is 3" }],
  },
] as const;
for (const overrides of [{ tools: [] }, { tools: [tool], toolChoice: "none" as const }, { tools: [tool] }])
  // One after the other, so that the bodies are in their order.
  // oxlint-disable-next-line no-await-in-loop
  await bedrock?.callerOf({ model: "m", fetch }).call(requestOf({ messages, ...overrides }));
const shown = bodies.map((body) => {
  const text = JSON.stringify(body);
  return ["toolConfig", "toolUse", "toolResult", "the sum is 3"]
    .filter((part) => text.includes(part))
    .join(", ");
});
process.stdout.write(shown.join("\n"));
