import { answers, fails, hangs } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/index.ts";
import { failureOf, scene, settled, type Scene } from "../support.ts";

/** What a viewer shows that keeps text by the id of its attempt, and drops what is not a whole answer. */
function shownBy(events: readonly AgentEvent[]): Readonly<Record<string, string>> {
  const shown: Record<string, string> = {};
  for (const event of events) {
    if (event.type === "LlmToken") shown[event.messageId] = (shown[event.messageId] ?? "") + event.text;
    if (event.type === "LlmAttemptEnded" || event.type === "LlmRetryScheduled") delete shown[event.messageId];
  }
  return shown;
}

const ends = ({ events }: Scene): readonly AgentEvent[] =>
  events.filter(({ type }) => type === "LlmAttemptEnded");

describe("an attempt of the model that is cut off", () => {
  it("and made again streams under another id, and its text can be dropped", async () => {
    const at = scene([
      fails("connection", { partial: "Let me th", retryAfterMs: 500 }),
      answers("It is 4.", { reasoning: "2 and 2" }),
    ]);
    const run = at.session.ask("2+2?");
    await untilPasses(() => expect(at.events.at(-1)?.type).toBe("LlmRetryScheduled"));
    expect(at.events.at(-1)).toEqual({
      type: "LlmRetryScheduled",
      messageId: "msg_1_1",
      due: 1_500,
      reason: "connection",
      message: "Scripted failure: connection",
    });
    at.clock.advance(500);
    await run;
    await settled();
    expect(shownBy(at.events)).toEqual({ msg_1_1_2: "It is 4." });
    expect(at.events).toContainEqual({
      type: "LlmReasoning",
      messageId: "msg_1_1_2",
      part: 0,
      text: "and ",
      offset: 2,
    });
  });

  it("by a cancel is reported with the id of its message, which is kept in the conversation", async () => {
    const at = scene([hangs("Let me think")]);
    const failed = failureOf(at.session.ask("2+2?"));
    await untilPasses(() => expect(at.session.current().streaming?.text).toBe("Let me think"));
    await at.session.cancel();
    await failed;
    expect(ends(at)).toEqual([{ type: "LlmAttemptEnded", messageId: "msg_1_1", status: "cut" }]);
    expect(at.session.current().messages.at(-1)).toMatchObject({ id: "msg_1_1", status: "cut" });
  });

  it("by another configuration is reported, and the next attempt begins under another id", async () => {
    const at = scene([hangs("Let me think"), answers("It is 4.")]);
    const run = at.session.ask("2+2?");
    await untilPasses(() => expect(at.session.current().streaming?.text).toBe("Let me think"));
    await at.session.configure({ systemPrompt: "Be brief." });
    await run;
    expect(shownBy(at.events)).toEqual({ msg_1_1_2: "It is 4." });
  });
});

describe("an answer that is not taken", () => {
  it("is reported as dropped where the model was not confident", async () => {
    const at = scene([
      answers("Maybe 5.", { confidence: 0.1 }),
      answers("Nothing yet."),
      answers("It is 4.", { confidence: 0.9 }),
    ]);
    await at.session.ask("2+2?");
    expect(ends(at)).toEqual([{ type: "LlmAttemptEnded", messageId: "msg_1_1", status: "dropped" }]);
  });

  it("is not reported where it is whole", async () => {
    const at = scene([answers("It is 4.")]);
    await at.session.ask("2+2?");
    expect(ends(at)).toEqual([]);
    expect(shownBy(at.events)).toEqual({ msg_1_1: "It is 4." });
  });
});
