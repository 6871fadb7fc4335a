import { answers, callsTools, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import {
  agentTransition,
  applyInputs,
  defineAgent,
  defineTool,
  effectsAt,
  initialStateOf,
  performEffect,
  runTask,
  startSession,
  userMessage,
  type DispatchBatch,
  type Session,
} from "../src/index.ts";

/** The lines of the design's page, as they stand there. */
describe("the facade of the design", () => {
  const weather = defineTool({
    name: "weather",
    description: "The weather in a city now.",
    input: z.object({ city: z.string() }),
    execute: ({ city }) => ({ city, celsius: 21 }),
  });
  const openai = (_: { readonly model: string }, ...script: readonly MockStep[]) => new MockLlmCaller(script);

  it("runs a task", async () => {
    const llm = openai(
      { model: "MODEL" },
      callsTools([{ name: "weather", arguments: { city: "Oslo" } }]),
      answers("No."),
    );
    const agent = defineAgent({ llm, tools: [weather] });
    const { answer } = await runTask(agent, "Do I need a coat in Oslo?");
    expect(answer).toBe("No.");
    expect(llm.requests[1]?.messages[1]).toMatchObject({
      results: [{ content: '{"city":"Oslo","celsius":21}' }],
    });
  });

  it.each([true, false])("asks in a session, and a human says %s", async (says) => {
    const refund = defineTool({
      name: "refund",
      description: "Refunds.",
      input: z.object({ order: z.number() }),
      approval: "always",
      execute: () => "refunded",
    });
    const llm = openai(
      { model: "MODEL" },
      callsTools([{ name: "refund", arguments: { order: 7 } }]),
      answers("It is done."),
    );
    const agent = defineAgent({ llm, tools: [refund] });
    const confirm = vi.fn(async (asked: unknown) => asked !== undefined && says);
    let written = "";
    const process = { stdout: { write: (text: string) => void (written += text) } };

    await using session = startSession(agent, { id: "ada" });
    for await (const event of session.ask("Refund order 7")) {
      if (event.type === "LlmToken") process.stdout.write(event.text);
      if (event.type === "ApprovalRequested")
        await event.decide((await confirm(event.parameters)) ? "approve" : { reject: "no" });
    }

    expect(written).toBe("It is done.");
    expect(confirm).toHaveBeenCalledWith({ order: 7 });
    expect(session.current().toolCalls["call_1"]?.result?.isSuccess).toBe(says);
  });

  it("is driven by hand", async () => {
    const agent = defineAgent({ llm: openai({ model: "MODEL" }, answers("4")) });
    let state = agentTransition(userMessage("2+2?"))(initialStateOf(agent));
    const dispatch: DispatchBatch = (...inputs) => {
      const { state: next, applied } = applyInputs(state, inputs);
      state = next;
      return applied > 0;
    };
    for (let open = Object.values(effectsAt(state)); open[0]; open = Object.values(effectsAt(state)))
      await performEffect(agent, open[0], state, { dispatch, sessionId: "one" });
    expect(state.reActContext.control).toEqual({ type: "Done", answer: "4" });
  });

  it("is an external store, as React wants one", async () => {
    const agent = defineAgent({ llm: openai({ model: "MODEL" }, answers("It is 4.")) });
    const useState = <T>(make: () => T): readonly [T] => [make()];
    const stores: [subscribe: Session["subscribe"], unsubscribe: () => void][] = [];
    let renders = 0;
    const useSyncExternalStore = <T>(subscribe: Session["subscribe"], snapshot: () => T): T => {
      stores.push([
        subscribe,
        subscribe(() => void (renders += Number(!Object.is(snapshot(), snapshot())) + 1)),
      ]);
      return snapshot();
    };

    const [chat] = useState(() => startSession(agent));
    const { messages, streaming } = useSyncExternalStore(chat.subscribe, chat.current);

    expect([messages, streaming]).toEqual([[], null]);
    await chat.ask("2+2?");
    expect(renders).toBeGreaterThan(3);
    for (const [, unsubscribe] of stores) unsubscribe();
  });
});
