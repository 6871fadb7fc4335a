// @vitest-environment happy-dom
import { startSession } from "@moora/agent";
import type { LlmCallOptions, LlmChunk, LlmOutcome } from "@moora/llm";
import { answers, callsTools } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { act, type JSX } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AgentProvider, useAgent, useMessage, type ChatPart, type ChatSession } from "../src/index.ts";
import { agentOf, remoteSession, Screen } from "./support.tsx";

const chunks: readonly LlmChunk[] = [
  { type: "reasoning", index: 0, text: "Hm." },
  { type: "text", index: 1, text: "I look" },
  { type: "text", index: 1, text: " twice." },
  { type: "tool-call", index: 2, name: "look" },
  { type: "tool-call-delta", index: 2, text: "{}" },
  { type: "text", index: 3, text: "And" },
  { type: "text", index: 3, text: " again:" },
  { type: "reasoning", index: 4, text: "So." },
  { type: "tool-call", index: 5, name: "work" },
  { type: "text", index: 6, text: "Wait" },
  // Parts that are open at the same time alternate.
  { type: "tool-call-delta", index: 5, text: "{}" },
  { type: "text", index: 6, text: "." },
];

/** What is shown after each chunk. */
const orders = [
  "reasoning Hm.",
  "reasoning Hm., text I look",
  "reasoning Hm., text I look twice.",
  "reasoning Hm., text I look twice., look ",
  "reasoning Hm., text I look twice., look {}",
  "reasoning Hm., text I look twice., look {}, text And",
  "reasoning Hm., text I look twice., look {}, text And again:",
  "reasoning Hm., text I look twice., look {}, text And again:, reasoning So.",
  "reasoning Hm., text I look twice., look {}, text And again:, reasoning So., work ",
  "reasoning Hm., text I look twice., look {}, text And again:, reasoning So., work , text Wait",
  "reasoning Hm., text I look twice., look {}, text And again:, reasoning So., work {}, text Wait",
  "reasoning Hm., text I look twice., look {}, text And again:, reasoning So., work {}, text Wait.",
];

const thought = (text: string) => ({ type: "reasoning", text, raw: {} }) as const;

/** The turn that the chunks are streamed of. */
function turn(): LlmOutcome {
  const outcome = callsTools([{ name: "look" }, { name: "work" }], { text: "I look twice." });
  if (!outcome.ok) return outcome;
  const [first, look, work] = outcome.turn.parts;
  if (first === undefined || look === undefined || work === undefined) throw new Error("No parts.");
  const [again, wait] = ["And again:", "Wait."].map((text) => ({ type: "text", text }) as const);
  if (again === undefined || wait === undefined) throw new Error("No texts.");
  const parts = [thought("Hm."), first, look, again, thought("So."), work, wait];
  return { ...outcome, turn: { ...outcome.turn, parts } };
}

/** A model that streams what a test emits. */
class EmittingLlm {
  readonly name = "emitting";
  emit: LlmCallOptions["onChunk"];
  readonly #end = Promise.withResolvers<LlmOutcome>();

  end(): void {
    this.#end.resolve(turn());
  }

  async call(_: unknown, { onChunk, signal }: LlmCallOptions = {}): Promise<LlmOutcome> {
    if (this.emit !== undefined) return answers("Done.");
    this.emit = onChunk;
    signal?.addEventListener("abort", () => this.end());
    return await this.#end.promise;
  }
}

const partText = (part: ChatPart): string => {
  if (part.type === "tool-call") return `${part.name} ${part.parameters}`;
  return part.type === "file" ? "file" : `${part.type} ${part.text}`;
};

/** What is rendered of the answer, each change once. */
let shown: string[] = [];

function Newest({ id }: { readonly id: string }): null {
  const text = useMessage(id)?.parts.map(partText).join(", ") ?? "";
  if (text !== "" && text !== shown.at(-1)) shown.push(text);
  return null;
}

function Answer(): JSX.Element | null {
  const answer = useAgent().messages.find(({ role }) => role === "assistant");
  return answer === undefined ? null : <Newest id={answer.id} />;
}

const show = (session: ChatSession<{ items: string[] }>): Promise<Screen> =>
  Screen.of(
    <AgentProvider session={session}>
      <Answer />
    </AgentProvider>,
  );

const shows = (assertion: () => void): Promise<void> => act(() => untilPasses(assertion));

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  shown = [];
});
afterEach(() => void vi.unstubAllGlobals());

const kinds = ["local", "remote"] as const;

async function sessionOf(kind: (typeof kinds)[number], agent: ReturnType<typeof agentOf>) {
  if (kind === "remote") return await remoteSession(agent);
  const session = startSession(agent);
  return { session, [Symbol.asyncDispose]: () => session.close() };
}

describe.each(kinds)("the parts of a message of a %s session", (kind) => {
  it("are in the order of the model, at each token and in the end", async () => {
    const llm = new EmittingLlm();
    await using scene = await sessionOf(kind, agentOf(llm));
    const { session } = scene;
    await using _ = await show(session);
    await act(async () => void (await session.send("Look")));
    await shows(() => expect(llm.emit).toBeDefined());
    for (const [index, chunk] of chunks.entries()) {
      await act(async () => llm.emit?.(chunk));
      await shows(() => expect(shown.at(-1)).toBe(orders[index]));
    }
    expect(shown).toEqual(orders);
    await act(async () => llm.end());
    await shows(() => expect(session.current().messages.length).toBeGreaterThan(1));
    await shows(() => expect(session.current().streaming).toBeNull());
    expect(shown).toEqual(orders);
    await act(async () => void (await session.cancel()));
  });

  it("are in this order where a page begins to listen in the middle", async () => {
    const llm = new EmittingLlm();
    await using scene = await sessionOf(kind, agentOf(llm));
    const { session } = scene;
    await session.send("Look");
    await untilPasses(() => expect(llm.emit).toBeDefined());
    llm.emit?.({ type: "text", index: 0, text: "I " });
    await untilPasses(() => expect(session.current().streaming?.text).toBe("I "));
    await using _ = await show(session);
    expect(shown).toEqual(["text I "]);
    await act(async () => llm.emit?.({ type: "text", index: 0, text: "look." }));
    await act(async () => llm.emit?.({ type: "tool-call", index: 1, name: "look" }));
    await act(async () => llm.emit?.({ type: "text", index: 2, text: "Wait." }));
    await shows(() => expect(shown.at(-1)).toBe("text I look., look , text Wait."));
    await act(async () => void (await session.cancel()));
  });

  it("have no reasoning whose beginning the session has not seen", async () => {
    const llm = new EmittingLlm();
    await using scene = await sessionOf(kind, agentOf(llm));
    const { session } = scene;
    await session.send("Look");
    await untilPasses(() => expect(llm.emit).toBeDefined());
    llm.emit?.({ type: "reasoning", index: 0, text: "Do not " });
    llm.emit?.({ type: "text", index: 1, text: "I look." });
    await untilPasses(() => expect(session.current().streaming?.text).toBe("I look."));
    // A session of a server has what was streamed before the page listens.
    const begun = kind === "remote" ? "reasoning Do not , " : "";
    await using _ = await show(session);
    await act(async () => llm.emit?.({ type: "reasoning", index: 0, text: "delete everything." }));
    await act(async () => llm.emit?.({ type: "text", index: 1, text: " Wait." }));
    const whole = kind === "remote" ? "reasoning Do not delete everything., " : "";
    await shows(() => expect(shown.at(-1)).toBe(`${whole}text I look. Wait.`));
    expect(shown[0]).toBe(`${begun}text I look.`);
    await act(async () => void (await session.cancel()));
  });
});
