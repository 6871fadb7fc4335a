import { everyEnd } from "../../../llm/test/support/ends.ts";
import { AnthropicCaller } from "../../src/index.ts";
import { messagesDialect } from "./messages-dialect.ts";

const ends = await everyEnd(
  messagesDialect,
  (baseURL) => new AnthropicCaller({ apiKey: "some-key", baseURL }),
);
process.stdout.write(JSON.stringify([ends]));
