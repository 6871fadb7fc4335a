import { endCallsInEveryWay } from "@moora/llm/testing";
import { AnthropicCaller } from "../../src/index.ts";
import { messagesDialect } from "./messages-dialect.ts";

await endCallsInEveryWay(messagesDialect, (baseURL) => new AnthropicCaller({ apiKey: "some-key", baseURL }));
process.stdout.write("done");
