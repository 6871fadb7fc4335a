import type { AgentState } from "@moora/agent-core-state-machine";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { expect, it } from "vitest";
import { AgentError, defineAgent, startSession, userMessage, type Session } from "../../src/index.ts";
import { failureOf, toolOf } from "../support.ts";
import { graphOf } from "@moora/testbed/graph-of";

/** The paths of the objects of a value that can be written to. */
function writable(value: unknown, path = "state"): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Object.isFrozen(value) ? [] : [path];
  return [...own, ...Object.entries(value).flatMap(([key, child]) => writable(child, `${path}.${key}`))];
}

/** Receives each state that the session hands out at one place, and notes what can be written to at that moment. */
type Hand = (state: AgentState) => void;

/** The places at which a session hands out states. Each is tried alone, since states are frozen in place. */
const places: Readonly<Record<string, (session: Session, hand: Hand) => Promise<void>>> = {
  async "a listener of inputs"(session, hand) {
    session.onInput((_, state) => hand(state));
    await session.ask("Look.");
  },
  async "current()"(session, hand) {
    session.subscribe(() => hand(session.current()));
    await session.ask("Look.");
  },
  async "the result of a run"(session, hand) {
    hand((await session.ask("Look.")).state);
  },
  async "a function of the state"(session, hand) {
    await session.ask("Look.");
    await session.dispatch((state: AgentState) => {
      hand(state);
      return userMessage("Look again.", { messageId: "again", timestamp: 1 });
    });
  },
  async "the error of a run"(session, hand) {
    const run = session.ask("Look.");
    await session.cancel();
    const error = await failureOf(run);
    if (error instanceof AgentError && error.state !== undefined) hand(error.state);
  },
  async "the handler of a state"(session) {
    await session.ask("Look.");
  },
};

it.each(Object.entries(places))(
  "a state is frozen as a whole where a session hands it out: %s",
  async (place, visit) => {
    let states = 0;
    const found = new Set<string>();
    const hand: Hand = (state) => {
      states += 1;
      for (const path of writable(state)) found.add(path);
    };
    let calls = 0;
    const agent = defineAgent({
      // More calls than a state keeps in plain arrays and objects.
      llm: new MockLlmCaller(() => {
        calls += 1;
        return calls % 80 === 0 ? answers("Done.") : callsTools([{ name: "look", arguments: {} }]);
      }),
      tools: [toolOf("look", () => `Seen ${calls}.`, { replay: "safe" })],
      states: {
        Check(state) {
          if (place === "the handler of a state") hand(state);
          return "Checked";
        },
      },
      config: {
        limits: { maxSteps: 200 },
        reflection: { aboveInputTokens: 0 },
        graph: graphOf({ Observing: { Continue: "Check" }, Check: { Checked: "Planning" } }),
      },
    });
    await using session = startSession(agent);
    await visit(session, hand);
    expect(states).toBeGreaterThan(0);
    expect([...found]).toEqual([]);
  },
);

it("a listener cannot change an input or an event for the listeners and runs after it", async () => {
  const agent = defineAgent({
    llm: new MockLlmCaller([callsTools([{ name: "pay", arguments: { euros: 5_000 } }]), answers("Paid.")]),
    tools: [toolOf("pay", () => "paid", { approval: "always" })],
  });
  await using session = startSession(agent, { onError: () => undefined });
  session.onInput((input) => void Object.assign(input, { type: "forged" }));
  session.onEvent((event) => {
    if (event.type === "ApprovalRequested") Object.assign(event, { parameters: { euros: 1 } });
  });
  const run = session.ask("Pay.");
  const shown: unknown[] = [];
  for await (const event of run) {
    if (event.type !== "ApprovalRequested") continue;
    shown.push(event.parameters);
    await event.decide("approve", "ada");
  }
  expect(shown).toEqual([{ euros: 5_000 }]);
  expect((await run).text).toBe("Paid.");
});
