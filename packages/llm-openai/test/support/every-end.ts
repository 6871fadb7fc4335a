import { everyEnd } from "../../../llm/test/support/ends.ts";
import { OpenAiCaller, OpenAiChatCaller } from "../../src/index.ts";
import { chatDialect } from "./chat-dialect.ts";
import { responsesDialect } from "./responses-dialect.ts";

const apiKey = "some-key";
const ends = [
  await everyEnd(responsesDialect, (baseURL) => new OpenAiCaller({ apiKey, baseURL })),
  await everyEnd(chatDialect(), (baseURL) => new OpenAiChatCaller({ apiKey, baseURL })),
];
process.stdout.write(JSON.stringify(ends));
