import { endCallsInEveryWay } from "@moora/llm/testing";
import { OpenAiCaller, OpenAiChatCaller } from "../../src/index.ts";
import { chatDialect } from "./chat-dialect.ts";
import { responsesDialect } from "./responses-dialect.ts";

const apiKey = "some-key";
await endCallsInEveryWay(responsesDialect, (baseURL) => new OpenAiCaller({ apiKey, baseURL }));
await endCallsInEveryWay(chatDialect(), (baseURL) => new OpenAiChatCaller({ apiKey, baseURL }));
process.stdout.write("done");
