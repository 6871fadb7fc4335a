import { ProtocolServer } from "@moora/llm/testing";
import { exampleRequest } from "@moora/testbed/llm/example-request";
import { geminiDialect } from "@moora/testbed/google/gemini-dialect";
import { aiSdkProviders } from "../../src/cli/ai-sdk-providers.ts";

// A script, because the package for Amazon cannot be loaded through the module conditions of a test runner.
const server = new ProtocolServer({ ...geminiDialect, path: /./, requestProblem: () => undefined });
server.serve({
  type: "response",
  status: 401,
  headers: { "content-type": "application/json" },
  body: '{"message":"no","error":{"message":"no","code":401,"status":"UNAUTHENTICATED"}}',
});
const baseURL = await server.listen();
const lines: string[] = [];
for (const { name, keyName, variables = [], callerOf } of aiSdkProviders) {
  for (const variable of variables[0] ?? []) process.env[variable] = "some-value";
  const before = server.bodies.length;
  const caller = callerOf({ model: "m", baseURL, ...(keyName !== undefined && { apiKey: "some-key" }) });
  // One after the other, so that the requests of each can be counted.
  // oxlint-disable-next-line no-await-in-loop
  const outcome = await caller.call(exampleRequest("another-origin", { text: "", raw: {} }));
  const result = outcome.ok ? "answered" : outcome.failure.kind;
  lines.push(`${name}: ${result} after ${server.bodies.length - before} request`);
}
await server.close();
process.stdout.write(lines.join("\n"));
