import { call } from "../counting-agent.ts";
import { asks, inLoops, type Transcript } from "./transcript.ts";

const three = () => ({ answer: { count: 3 } });

/** Calls of several attempts: repeated after a failure, or continued with the reply to a question of their tool. */
export const attempts: readonly Transcript[] = [
  inLoops("a call that fails once and is repeated", [[[call("flaky")]]], {
    config: { retries: { delayMs: 1_000 } },
  }),
  inLoops("a call that is repeated while others run", [[[call("flaky"), call("look"), call("pay")]]]),
  inLoops("a call that is repeated when its slot is free again", [[[call("flaky"), call("look")]]], {
    config: { toolCalls: { parallel: false } },
  }),
  inLoops("a tool that asks in the middle", [[[call("wonder")]]], { decide: three }),
  inLoops("a tool that asks while others run", [[[call("wonder"), call("look"), call("wonder", 2)]]], {
    decide: three,
  }),
  inLoops("a tool that asks and is refused", [[[call("wonder")]]], {
    decide: () => ({ reject: "None of your business." }),
  }),
  inLoops("a tool that asks after its approval", [[[call("wonder")]]], {
    config: asks("wonder"),
    decide: ({ about }) => (about === "approval" ? "approve" : { answer: { count: 3 } }),
  }),
  inLoops("a tool that asks and waits in vain", [[[call("wonder")]]], {
    config: { approval: { policy: "never", expiresAfterMs: 60_000 } },
    decide: () => undefined,
  }),
];
