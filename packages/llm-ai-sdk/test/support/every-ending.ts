import { endCallsInEveryWay } from "@moora/testbed/llm/call-endings";
import { geminiDialect } from "@moora/testbed/google/gemini-dialect";
import { singleSummaryDialect } from "@moora/testbed/openai/responses-dialect";
import { google, openAiResponses } from "./callers.ts";

await endCallsInEveryWay(geminiDialect, (baseURL) => google(baseURL, "some-key"));
await endCallsInEveryWay(singleSummaryDialect, (baseURL) => openAiResponses(baseURL, "some-key"));
process.stdout.write("done");
