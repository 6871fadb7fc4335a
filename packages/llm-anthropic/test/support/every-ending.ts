import { endCallsInEveryWay } from "@moora/testbed/llm/call-endings";
import { AnthropicCaller } from "../../src/index.ts";
import { messagesDialect } from "@moora/testbed/anthropic/messages-dialect";

await endCallsInEveryWay(messagesDialect, (baseURL) => new AnthropicCaller({ apiKey: "some-key", baseURL }));
process.stdout.write("done");
