// @vitest-environment happy-dom
import { defineAgent, startSession, type Agent } from "@moora/agent";
import { answers, fails, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { act } from "react";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import { z } from "zod";
import { AgentProvider, useAgent, type AnswerOf, type Chat, type ChatSession } from "../src/index.ts";
import { Screen } from "./support.tsx";

const answer = z.object({ city: z.string(), since: z.string().optional() });
const structured = (script: MockScript) => defineAgent({ llm: new MockLlmCaller(script), answer });
const plain = (script: MockScript) => defineAgent({ llm: new MockLlmCaller(script) });

type City = { readonly city: string; readonly since?: string | undefined };

let chat: Chat;
let shown: unknown[] = [];

function Answer(): null {
  chat = useAgent<Agent<unknown>>();
  shown.push(chat.answer);
  return null;
}

const show = (session: ChatSession): Promise<Screen> =>
  Screen.of(
    <AgentProvider session={session}>
      <Answer />
    </AgentProvider>,
  );

/** Sends a message, and waits until its loop has ended. */
const ask = (text: string): Promise<void> =>
  act(async () => {
    await chat.send(text);
    await untilPasses(() => expect(["idle", "failed"]).toContain(chat.status));
  });

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  shown = [];
});
afterEach(() => void vi.unstubAllGlobals());

describe("the answer of a chat", () => {
  it("has the type of the agent", () => {
    expectTypeOf<AnswerOf<ReturnType<typeof structured>>>().toEqualTypeOf<City>();
    expectTypeOf<AnswerOf<ReturnType<typeof plain>>>().toEqualTypeOf<string>();
    expectTypeOf<AnswerOf<Agent<unknown>>>().toEqualTypeOf<unknown>();
    expectTypeOf<AnswerOf<unknown>>().toEqualTypeOf<unknown>();
    const useStructured = () => useAgent<ReturnType<typeof structured>>();
    expectTypeOf<ReturnType<typeof useStructured>["answer"]>().toEqualTypeOf<City | undefined>();
  });

  it("is the text of the model", async () => {
    const session = startSession(plain([answers("Four."), answers("Five.")]));
    await using _ = await show(session);
    expect(chat.answer).toBeUndefined();
    await ask("2 + 2?");
    expect(chat.answer).toBe("Four.");
    await ask("2 + 3?");
    expect(chat.answer).toBe("Five.");
    expect(shown).toContain(undefined);
  });

  it("is JSON where the agent has a schema, and the same object until the next loop", async () => {
    const session = startSession(structured([answers('{"city":"Rome"}'), fails("auth")]));
    await using _ = await show(session);
    await ask("Where?");
    const { answer: first } = chat;
    expect(first).toEqual({ city: "Rome" });
    await act(async () => void (await session.pause()));
    expect(chat.status).toBe("paused");
    expect(chat.answer).toBe(first);
    await act(async () => void (await session.resume()));
    await ask("And now?");
    expect(chat.status).toBe("failed");
    expect(chat.answer).toBeUndefined();
  });
});
