import { describeAgainstMock } from "@moora/testbed/provider-mock";
import { AnthropicCaller } from "../src/index.ts";

describeAgainstMock([
  {
    name: "the Messages API",
    model: "claude-sonnet-5-5",
    callerAt: (baseURL) => new AnthropicCaller({ apiKey: "some-key", baseURL }),
    failures: [
      [429, { message: "slow down", type: "rate_limit_error" }, "rate-limit", true],
      [529, { message: "too much", type: "overloaded_error" }, "overloaded", true],
      [401, { message: "wrong key", type: "authentication_error" }, "auth", false],
      [500, { message: "oops", type: "api_error" }, "server", true],
    ],
    reasoning: { raw: { signature: "sig-abc" } },
  },
]);
