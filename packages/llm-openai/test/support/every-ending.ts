import { endCallsInEveryWay } from "@moora/testbed/llm/call-endings";
import { OpenAiCaller, OpenAiChatCaller } from "../../src/index.ts";
import { chatDialect } from "@moora/testbed/openai/chat-dialect";
import { responsesDialect } from "@moora/testbed/openai/responses-dialect";

const apiKey = "some-key";
await endCallsInEveryWay(responsesDialect, (baseURL) => new OpenAiCaller({ apiKey, baseURL }));
await endCallsInEveryWay(chatDialect(), (baseURL) => new OpenAiChatCaller({ apiKey, baseURL }));
process.stdout.write("done");
