// @vitest-environment happy-dom
import { startSession } from "@moora/agent";
import type { LlmCallOptions, LlmChunk } from "@moora/llm";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { act, memo, type JSX } from "react";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import {
  AgentProvider,
  useAgent,
  useAgentValue,
  useMessage,
  type Chat,
  type ChatMessage,
  type ChatSession,
} from "../src/index.ts";
import { agentOf, remoteSession, Screen } from "./support.tsx";

const renders = new Map<string, number>();
const count = (name: string): void => void renders.set(name, (renders.get(name) ?? 0) + 1);

let chat: Chat<{ items: string[] }>;
let newest: ChatMessage | undefined;

const Message = memo(function Message({ id }: { readonly id: string }): JSX.Element {
  count(id);
  const message = useMessage(id);
  newest = message;
  return (
    <p data-id={id}>
      {message?.parts.map((part, index) => (
        <span key={index}>
          {part.type === "file"
            ? `(${part.file.mediaType})`
            : part.type === "tool-call"
              ? `[${part.name} ${part.status} ${part.progress ?? part.parameters}]`
              : part.text}
        </span>
      ))}
    </p>
  );
});

function Messages(): JSX.Element {
  count("list");
  chat = useAgent<ReturnType<typeof agentOf>>();
  return (
    <div>
      {chat.messages.map(({ id }) => (
        <Message key={id} id={id} />
      ))}
    </div>
  );
}

const show = (session: ChatSession<{ items: string[] }>): Promise<Screen> =>
  Screen.of(
    <AgentProvider session={session}>
      <Messages />
    </AgentProvider>,
  );

/** Waits in `act` until an assertion passes. */
const shows = (assertion: () => void): Promise<void> => act(() => untilPasses(assertion));

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  renders.clear();
});
afterEach(() => vi.unstubAllGlobals());

const kinds = ["local", "remote"] as const;

/** A session in this process, or one of a server. */
async function sessionOf(kind: (typeof kinds)[number], agent: ReturnType<typeof agentOf>) {
  if (kind === "remote") return await remoteSession(agent);
  const session = startSession(agent);
  return { session, [Symbol.asyncDispose]: () => session.close() };
}

describe.each(kinds)("a %s session in React", (kind) => {
  it("is shown with its messages, its tool calls and their results", async () => {
    const script = [callsTools([{ name: "look", arguments: { at: "it" } }]), answers("It is a tree.")];
    await using scene = await sessionOf(kind, agentOf(script));
    await using screen = await show(scene.session);
    await act(async () => void (await chat.send("What is it?")));
    await shows(() => expect(screen.text).toBe('What is it?[look done {"at":"it"}]It is a tree.'));
    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant", "assistant"]);
    expect(chat.status).toBe("idle");
    const [first] = chat.messages;
    await act(async () => void (await chat.send("And now?").catch(() => undefined)));
    expect(chat.messages[0]).toBe(first);
  });

  it("shows the files that a user attaches, with their text and without", async () => {
    await using scene = await sessionOf(
      kind,
      agentOf(() => answers("I see.")),
    );
    await using screen = await show(scene.session);
    const attachments = [{ mediaType: "image/png", url: "data:image/png;base64,AA==" }];
    for (const content of ["Look:", ""])
      await act(async () => void (await chat.send({ content, attachments })));
    await shows(() => expect(screen.text).toBe("Look:(image/png)I see.(image/png)I see."));
  });

  it("shows the files that the model makes", async () => {
    const outcome = answers("Here it is.");
    if (!outcome.ok) throw new Error("No answer.");
    const { turn } = outcome;
    const file = { mediaType: "image/png", url: "https://example.com/tree.png" };
    const made = { ...outcome, turn: { ...turn, parts: [...turn.parts, { type: "file", file } as const] } };
    await using scene = await sessionOf(kind, agentOf([made]));
    await using screen = await show(scene.session);
    await act(async () => void (await chat.send("Draw")));
    await shows(() => expect(screen.text).toBe("DrawHere it is.(image/png)"));
    const [, drawn] = chat.messages;
    await act(async () => void (await chat.pause()));
    expect(chat.messages[1]).toBe(drawn);
  });

  it("renders one message for a token", async () => {
    const llm = new TypingLlm();
    await using scene = await sessionOf(kind, agentOf(llm));
    await using screen = await show(scene.session);
    for (const content of ["First", "Second"]) {
      await act(async () => void (await chat.send(content)));
      await shows(() => expect(llm.isTyping).toBe(true));
      await act(async () => llm.type(`${content} `));
      await shows(() => expect(screen.text).toMatch(new RegExp(`${content} $`)));
      if (content === "First") await act(async () => llm.end());
      await shows(() => expect(chat.status).toBe(content === "First" ? "idle" : "running"));
    }
    const streaming = chat.messages.at(-1)?.id ?? "";
    for (const [index, word] of ["so", "it", "is"].entries()) {
      renders.clear();
      await act(async () => llm.type(word));
      await shows(() => expect(screen.text).toMatch(new RegExp(`${word}$`)));
      expect([...renders], `token ${index}`).toEqual([[streaming, 1]]);
    }
    await act(async () => void (await chat.cancel()));
    await shows(() => expect(chat).toMatchObject({ status: "failed", failure: { kind: "Cancelled" } }));
    expect(chat.messages.at(-1)).toMatchObject({ status: "cut", streaming: false });
  });

  it("keeps the parts of a message that do not change while another one is streamed", async () => {
    const llm = new TypingLlm();
    await using scene = await sessionOf(kind, agentOf(llm));
    await using screen = await show(scene.session);
    await act(async () => void (await chat.send("Pay")));
    await shows(() => expect(llm.isTyping).toBe(true));
    await act(async () => {
      llm.type("I pay");
      llm.stream({ type: "tool-call", index: 1, name: "work" });
      llm.stream({ type: "tool-call-delta", index: 1, text: "{" });
    });
    await shows(() => expect(screen.text).toMatch(/I pay\[work drafting {\]$/));
    const [text, call] = newest?.parts ?? [];
    await act(async () => llm.stream({ type: "tool-call-delta", index: 1, text: "}" }));
    await shows(() => expect(screen.text).toMatch(/I pay\[work drafting {}\]$/));
    expect(newest?.parts[0]).toBe(text);
    const changed = newest?.parts[1];
    expect(changed).not.toBe(call);
    await act(async () => llm.type(" now"));
    await shows(() => expect(screen.text).toMatch(/I pay now\[work drafting {}\]$/));
    expect(newest?.parts[0]).not.toBe(text);
    expect(newest?.parts[1]).toBe(changed);
    await act(async () => void (await chat.cancel()));
  });

  it("shows the drafts of calls and the progress of tools, and cancels them", async () => {
    await using scene = await sessionOf(kind, agentOf(drafting()));
    await using screen = await show(scene.session);
    await act(async () => void (await chat.send("Pay")));
    await shows(() => expect(screen.text).toBe('PayHm.[work drafting {"cents":]'));
    expect(chat.messages.at(-1)).toMatchObject({ parts: [], streaming: true });
    drafting.proceed();
    await shows(() => expect(screen.text).toBe("Pay[work running Half of it.]"));
    expect(chat.status).toBe("running");
    await act(async () => void (await chat.cancel("Enough")));
    await shows(() => expect(screen.text).toContain("[work failed"));
  });

  it("asks, and decides", async () => {
    const script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("It is paid.")];
    await using scene = await sessionOf(kind, agentOf(script));
    await using screen = await show(scene.session);
    await act(async () => void (await chat.send("Pay")));
    await shows(() => expect(chat.status).toBe("waiting"));
    expect(screen.text).toContain("[pay asking");
    const [question] = chat.questions;
    if (question === undefined) throw new Error("No question.");
    expect(question).toMatchObject({ name: "pay", parameters: { cents: 5 } });
    await act(async () => void (await chat.decide(question, "approve")));
    await shows(() => expect(chat.status).toBe("idle"));
    expect(chat.questions).toEqual([]);
    expect(screen.text).toContain("It is paid.");
  });

  it("has data, and values of the state", async () => {
    await using scene = await sessionOf(kind, agentOf([]));
    const { session } = scene;
    function Items(): JSX.Element {
      count("items");
      const { length } = useAgentValue(
        (view) => view.data.items,
        session,
        (a, b) => a.length === b.length,
      );
      return <b>{length}</b>;
    }
    await using screen = await Screen.of(
      <AgentProvider session={session}>
        <Messages />
        <Items />
      </AgentProvider>,
    );
    await act(async () => void (await chat.update((draft) => void draft.items.push("tea"))));
    expect(screen.text).toBe("1");
    expect(chat.data).toEqual({ items: ["tea"] });
    const before = renders.get("items");
    await act(async () => void (await chat.update((draft) => void (draft.items[0] = "milk"))));
    expect(chat.data).toEqual({ items: ["milk"] });
    expect(renders.get("items")).toBe(before);
    await act(async () => void (await chat.pause("lunch")));
    expect(chat.status).toBe("paused");
    expect(chat.connection?.status).toBe(kind === "remote" ? "connected" : undefined);
    expectTypeOf(chat.data.items).toEqualTypeOf<readonly string[]>();
  });
});

describe("a hook", () => {
  it("needs a session", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    await expect(Screen.of(<Messages />)).rejects.toThrow(/AgentProvider/);
    vi.restoreAllMocks();
  });

  it("shows another session when it gets one, and stops listening to the first", async () => {
    const [first, second] = [
      startSession(agentOf([answers("One.")])),
      startSession(agentOf([answers("Two.")])),
    ];
    await using screen = await show(first);
    await act(async () => void (await chat.send("Hi")));
    await shows(() => expect(screen.text).toBe("HiOne."));
    await screen.show(
      <AgentProvider session={second}>
        <Messages />
      </AgentProvider>,
    );
    expect(screen.text).toBe("");
    await act(async () => void (await first.send("Again")));
    expect(screen.text).toBe("");
  });
});

/** A model that thinks, drafts a call, and then makes it when it may continue. */
function drafting() {
  const wait = Promise.withResolvers<void>();
  drafting.proceed = wait.resolve;
  const script = new MockLlmCaller([callsTools([{ name: "work", arguments: { cents: 5 } }])]);
  return {
    name: "drafting",
    async call(...[request, options = {}]: Parameters<MockLlmCaller["call"]>) {
      options.onChunk?.({ type: "reasoning", text: "Hm." });
      options.onChunk?.({ type: "tool-call", index: 0, name: "work" });
      options.onChunk?.({ type: "tool-call-delta", index: 0, text: '{"cents":' });
      await wait.promise;
      return await script.call(request, { ...(options.signal && { signal: options.signal }) });
    },
  };
}
drafting.proceed = (): void => undefined;

/** A model that streams what a test types. */
class TypingLlm {
  readonly name = "typing";
  #stream: LlmCallOptions["onChunk"];
  #end: (() => void) | undefined;
  #text = "";

  get isTyping(): boolean {
    return this.#stream !== undefined;
  }

  type(text: string): void {
    this.#text += text;
    this.stream({ type: "text", text });
  }

  stream(chunk: LlmChunk): void {
    this.#stream?.(chunk);
  }

  end(): void {
    this.#end?.();
  }

  async call(...[, options = {}]: Parameters<MockLlmCaller["call"]>) {
    this.#text = "";
    this.#stream = options.onChunk;
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      options.signal?.addEventListener("abort", () => resolve());
    });
    this.#stream = undefined;
    return answers(this.#text);
  }
}
