// @vitest-environment happy-dom
import { defineAgent, defineTool } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { act, type JSX } from "react";
import { createRoot } from "react-dom/client";
import { untilPasses } from "@moora/testbed/test-clock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Answer } from "../examples/react-reducer.tsx";
import { Chat } from "../examples/react-session.tsx";

const agent = () =>
  defineAgent({
    llm: new MockLlmCaller([callsTools([{ name: "add", arguments: { a: 1 } }]), answers("It is 2.")]),
    tools: [
      defineTool({
        name: "add",
        description: "Adds one.",
        input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
        execute: ({ a }) => Number(a) + 1,
      }),
    ],
  });

let container: HTMLElement;

const shown = async (element: JSX.Element): Promise<void> => {
  container = document.createElement("div");
  document.body.append(container);
  await act(async () => createRoot(container).render(element));
};

beforeEach(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true));
afterEach(() => {
  vi.unstubAllGlobals();
  document.body.replaceChildren();
});

describe("in React", () => {
  it("the reducer runs in useReducer, and its effects in useEffect", async () => {
    await shown(<Answer agent={agent()} question="What is 1 + 1?" />);
    await act(() => untilPasses(() => expect(container.textContent).toBe("It is 2.")));
  });

  it("a session is an external store", async () => {
    await shown(<Chat agent={agent()} />);
    const input = container.querySelector("input");
    if (input === null) throw new Error("no input");
    input.value = "What is 1 + 1?";
    await act(async () => container.querySelector("button")?.click());
    await act(() => untilPasses(() => expect(container.textContent).toContain("It is 2.")));
    const items = Array.from(container.querySelectorAll("li"), (item) => [
      item.dataset["role"],
      item.textContent,
    ]);
    expect(items).toEqual([
      ["user", "What is 1 + 1?"],
      ["assistant", "It is 2."],
    ]);
  });
});
