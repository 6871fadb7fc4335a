// @vitest-environment happy-dom
import { askHuman, defineAgent, startSession, type Question } from "@moora/agent";
import { answers, callsTools, fails, hangs, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { act } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AnyChatSession, ChatMessage, ChatSession } from "../src/index.ts";
import {
  AgentChat,
  Markdown,
  MessageView,
  messagesAt,
  QuestionList,
  type MessageViewProps,
} from "../src/components.ts";
import { agentOf, remoteSession, Screen } from "./support.tsx";

const guardMs = 700;
const pays = callsTools([{ name: "pay", arguments: { euros: 12, to: "ada\u202eeve" } }]);

beforeEach(() => void vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const sessionOf = (script: MockScript) => startSession(agentOf(script, [askHuman()]));
const buttons = (screen: Screen): readonly HTMLButtonElement[] => [
  ...screen.container.querySelectorAll("button"),
];

function button(screen: Screen, name: string): HTMLButtonElement {
  const found = buttons(screen).find(({ textContent }) => textContent === name);
  if (found === undefined) throw new Error(`There is no button "${name}" in ${screen.text}`);
  return found;
}

const press = (screen: Screen, name: string): Promise<void> => act(async () => button(screen, name).click());
const shows = (screen: Screen, text: string): Promise<void> =>
  act(async () => untilPasses(() => expect(screen.text).toContain(text)));

/** Types a text as a user does. */
async function type(screen: Screen, text: string): Promise<void> {
  const field = screen.container.querySelector<HTMLTextAreaElement>("textarea[aria-label=Message]");
  if (field === null) throw new Error("There is no field for a message.");
  await act(async () => {
    // React listens to changes that its own setter has not made.
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set?.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

describe("a chat", () => {
  it("begins with a first question, and shows the answer as Markdown and the call with its result", async () => {
    const session = sessionOf([
      callsTools([{ name: "look", arguments: { at: "it" } }]),
      answers("It is **a tree**."),
    ]);
    await using screen = await Screen.of(<AgentChat session={session} suggestions={["What is it?"]} />);
    await press(screen, "What is it?");
    await shows(screen, "It is a tree.");
    expect(screen.container.querySelector(".moora-assistant strong")?.textContent).toBe("a tree");
    expect(screen.container.querySelector(".moora-call.moora-done")?.textContent).toContain('{"at":"it"}');
    expect(screen.container.querySelector("[role=status]")?.textContent).toBe("It is **a tree**.");
  });

  it("keeps a message that was refused, with the reason", async () => {
    const session = sessionOf([answers("Yes.")]);
    const send = () => Promise.reject(new Error("The disk is full."));
    await using screen = await Screen.of(<AgentChat session={{ ...session, send }} />);
    await type(screen, "Hello.");
    await press(screen, "Send");
    await shows(screen, "The disk is full.");
    expect(screen.container.querySelector("textarea")?.value).toBe("Hello.");
  });

  it("shows why a loop has failed, and tries it again", async () => {
    const session = sessionOf([fails("auth", { message: "The key is wrong." }), answers("Now it works.")]);
    await using screen = await Screen.of(<AgentChat session={session} suggestions={["Go."]} />);
    await press(screen, "Go.");
    await shows(screen, "The key is wrong.");
    await press(screen, "Try again");
    await shows(screen, "Now it works.");
    expect(screen.text).not.toContain("The key is wrong.");
  });

  it("shows at first the newest hundred messages of a long history", async () => {
    const session = sessionOf(() => answers("Yes."));
    for (let count = 0; count < 60; count += 1) await session.ask(`Question ${count}.`);
    expect(messagesAt(session.current())).toHaveLength(120);
    await using screen = await Screen.of(<AgentChat session={session} />);
    expect(screen.container.querySelectorAll("article")).toHaveLength(100);
    await press(screen, "Show earlier messages (20 more)");
    expect(screen.container.querySelectorAll("article")).toHaveLength(120);
  });

  it("says that the server cannot be reached, and shows what waits to be sent", async () => {
    await using remote = await remoteSession(agentOf([answers("Yes.")]));
    const connection = {
      status: "waiting",
      pending: [{ key: "1", kind: "messages", content: "Later.", isConfirmed: false }],
    } as const;
    const session = { ...remote.session, connection: () => connection };
    await using screen = await Screen.of(<AgentChat session={session} />);
    expect(screen.text).toContain("The server cannot be reached.");
    expect(screen.container.querySelector(".moora-pending")?.textContent).toContain("Later.");
  });

  it("shows why a guardrail pauses, escaped, and a person lets the text pass or cancels", async () => {
    const asks = { name: "money", input: () => ({ ask: "Is \u202e5 right?" }) };
    const agent = defineAgent({ llm: new MockLlmCaller([answers("Sent.")]), guardrails: [asks] });
    await using screen = await Screen.of(
      <AgentChat session={startSession(agent)} suggestions={["Wire 5."]} />,
    );
    await press(screen, "Wire 5.");
    await shows(screen, String.raw`Is \u202e5 right?`);
    expect(screen.container.querySelector(".moora-paused p")?.textContent).toMatch(/^Paused: /);
    await press(screen, "Resume");
    await shows(screen, "Sent.");
    expect(screen.container.querySelector(".moora-paused")).toBeNull();
    await type(screen, "Wire 6.");
    await press(screen, "Send");
    await shows(screen, "Paused: ");
    await press(screen, "Cancel");
    await shows(screen, "Try again");
    expect(buttons(screen).map(({ textContent }) => textContent)).toEqual(["Try again", "Send", "Resume"]);
  });

  it("shows a pause without a reason, and offers no cancel where no loop runs", async () => {
    const session = sessionOf([]);
    await session.pause();
    await using screen = await Screen.of(<AgentChat session={session} />);
    expect(screen.container.querySelector(".moora-paused p")?.textContent).toBe("Paused");
    expect(buttons(screen).map(({ textContent }) => textContent)).toEqual(["Send", "Resume"]);
  });

  it("marks a message of a schedule", async () => {
    const session = sessionOf([answers("Yes."), answers("No.")]);
    await session.ask("Is it?");
    await session.schedule({ at: Date.now(), message: "Tick." });
    await using screen = await Screen.of(<AgentChat session={session} />);
    await shows(screen, "No.");
    const messages = [...screen.container.querySelectorAll(".moora-user")];
    expect(messages.map((message) => message.textContent)).toEqual(["UserIs it?", "UserTick.Scheduled"]);
  });

  it("stops a loop", async () => {
    const session = sessionOf([hangs()]);
    await using screen = await Screen.of(<AgentChat session={session} suggestions={["Go."]} />);
    await press(screen, "Go.");
    await shows(screen, "Stop");
    await press(screen, "Stop");
    await shows(screen, "Try again");
    expect(session.current().reActContext.control.type).toBe("Error");
  });
});

/** Waits until so many questions are open, without a move of the clock. */
const untilOpen = (session: AnyChatSession, count: number): Promise<void> =>
  act(async () => untilPasses(() => expect(session.questions()).toHaveLength(count)));

describe("a question", () => {
  async function asked(script: MockScript): Promise<{ session: AnyChatSession; screen: Screen }> {
    const session = sessionOf(script);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const screen = await Screen.of(<AgentChat session={session} suggestions={["Go."]} />);
    await press(screen, "Go.");
    await untilOpen(session, 1);
    await act(async () => undefined);
    return { session, screen };
  }
  const pass = (ms: number): Promise<void> => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));

  it("shows exactly what is approved, and takes no press for 700 ms", async () => {
    const { session, screen } = await asked([pays, answers("Paid it.")]);
    await using _ = screen;
    expect(screen.container.querySelector(".moora-questions pre")?.textContent).toBe(
      JSON.stringify({ euros: 12, to: String.raw`ada\u202eeve` }, null, 2).replaceAll("\\\\", "\\"),
    );
    await press(screen, "Approve");
    await pass(guardMs - 1);
    await press(screen, "Approve");
    expect(session.questions()).toHaveLength(1);
    expect(button(screen, "Approve").getAttribute("aria-disabled")).toBe("true");
    await pass(1);
    await press(screen, "Approve");
    await untilOpen(session, 0);
  });

  it("with deeply nested arguments is shown in a text that is no longer than they are", async () => {
    let parameters: unknown = Array.from({ length: 20_000 }, () => 1);
    for (let depth = 0; depth < 500; depth += 1) parameters = [parameters];
    const question = {
      toolCallId: "c",
      about: "approval",
      name: "pay",
      parameters,
      digest: "d",
      reason: "tool",
    };
    const given = { ...question, due: null, reminder: 0, escalated: false } as unknown as Question;
    await using screen = await Screen.of(<QuestionList questions={[given]} />);
    expect(screen.container.querySelector("pre")?.textContent).toBe(JSON.stringify(parameters));
  });

  it("is held again when it comes back after another one", async () => {
    const [one, other] = ["d1", "d2"].map((digest): Question => ({
      toolCallId: digest,
      about: "approval",
      name: "pay",
      parameters: {},
      digest,
      reason: "tool",
      due: null,
      reminder: 0,
      escalated: false,
    }));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const list = (question: Question | undefined) => (
      <QuestionList questions={question === undefined ? [] : [question]} decide={async () => undefined} />
    );
    await using screen = await Screen.of(list(one));
    const isHeld = () => button(screen, "Approve").getAttribute("aria-disabled") === "true";
    await pass(guardMs);
    expect(isHeld()).toBe(false);
    await screen.show(list(other));
    expect(isHeld()).toBe(true);
    await screen.show(list(one));
    expect(isHeld()).toBe(true);
    await pass(guardMs);
    expect(isHeld()).toBe(false);
  });

  it("that was answered elsewhere says so, also when it has gone", async () => {
    const session = sessionOf([pays, answers("Paid it.")]);
    const decided = { status: "ignored", reason: "already-decided", decidedBy: "maria" } as const;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const late = {
      ...session,
      decide: async (question: Question) => {
        await session.decide(question, { reject: "No." });
        return decided;
      },
    };
    await using screen = await Screen.of(
      <AgentChat session={late as unknown as ChatSession} suggestions={["Go."]} />,
    );
    await press(screen, "Go.");
    await untilOpen(session, 1);
    await pass(guardMs);
    await press(screen, "Approve");
    await untilOpen(session, 0);
    await act(async () => undefined);
    expect(screen.container.querySelector("[role=alert]")?.textContent).toContain(
      "maria has decided this already",
    );
    expect(screen.container.querySelector(".moora-badge")?.textContent).toContain("rejected");
  });
});

describe("what a model writes", () => {
  const html = async (text: string, links = true): Promise<string> => {
    await using screen = await Screen.of(<Markdown text={text} links={links} />);
    return screen.container.innerHTML;
  };

  it.each([
    [
      "<img src=x onerror=alert(1)> & <b>b</b>",
      "<p>&lt;img src=x onerror=alert(1)&gt; &amp; &lt;b&gt;b&lt;/b&gt;</p>",
    ],
    ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
    ["[a](javascript:alert(1))", "<p>a (javascript:alert(1))</p>"],
    [
      "![a](https://x.test/p.png)",
      '<p><a href="https://x.test/p.png" target="_blank" rel="noreferrer noopener">a</a></p>',
    ],
    ["1. a\n2. `b`", '<ol start="1"><li>a</li><li><code>b</code></li></ol>'],
    ["# a", "<h3>a</h3>"],
  ])("%s is elements and text only", async (text, expected) => {
    expect(await html(text)).toBe(`<div class="moora-markdown">${expected}</div>`);
  });

  it("has the addresses of links as text where they cannot be followed", async () => {
    expect(await html("[a](https://x.test)", false)).toContain("<p>a (https://x.test)</p>");
  });

  it("has pictures and files, and no address of a script", async () => {
    const file = (mediaType: string, name: string, url: string) =>
      ({ type: "file", file: { mediaType, name, url } }) as const;
    const message: ChatMessage = {
      id: "m1",
      role: "assistant",
      streaming: false,
      status: "cut",
      parts: [
        file("image/png", "a.png", "/a.png"),
        file("text/plain", "b.txt", "https://x.test/b.txt"),
        file("text/plain", "c.txt", "javascript:alert(1)"),
      ],
    };
    await using screen = await Screen.of(<MessageView message={message} fileUrl={({ url }) => url} />);
    expect(screen.container.querySelector("img")?.getAttribute("src")).toBe("/a.png");
    expect([...screen.container.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual([
      "https://x.test/b.txt",
    ]);
    expect(screen.text).toContain("c.txt");
    expect(screen.text).toContain("This message ended early.");
  });

  const shownFile = async (url: string, view: Omit<MessageViewProps, "message">): Promise<Element | null> => {
    const file = { mediaType: "image/png", name: "a.png", url };
    const message: ChatMessage = {
      id: "m1",
      role: "user",
      streaming: false,
      parts: [{ type: "file", file }],
    };
    await using screen = await Screen.of(<MessageView message={message} {...view} />);
    return screen.container.querySelector("article > :last-child");
  };
  const asNamed = ({ url }: { readonly url: string }) => url;

  it.each(["data:image/png;base64,AA==", "blob:https://x.test/1", "/a.png", `${location.origin}/a.png`])(
    "loads a picture of %s",
    async (url) => {
      expect((await shownFile(url, { fileUrl: asNamed }))?.getAttribute("src")).toBe(url);
    },
  );

  it.each(["https://x.test/a.png", "http://x.test/a.png", "//x.test/a.png", String.raw`\\x.test/a.png`])(
    "loads nothing of %s, which another server learns of",
    async (url) => {
      expect((await shownFile(url, { fileUrl: asNamed }))?.outerHTML).toBe(
        `<a class="moora-file" href="${url}" target="_blank" rel="noreferrer noopener">a.png</a>`,
      );
      expect((await shownFile(url, { fileUrl: asNamed, links: false }))?.outerHTML).toBe(
        `<span class="moora-file">a.png (${url})</span>`,
      );
    },
  );

  it("loads a picture that the server of the session has stored, whatever the origin of this server", async () => {
    const url = "https://api.x.test/sessions/s_1/files/abc";
    const shown = await shownFile("ni:///sha-256;abc", { fileUrl: () => url });
    expect(shown?.getAttribute("src")).toBe(url);
  });

  const deep = 5_000;
  it.each([
    ["quotes", ">".repeat(deep)],
    ["lists", `${"- ".repeat(deep)}a`],
    ["quotes in lists", `${"1. > ".repeat(deep)}a`],
    ["emphasis", `${"*a **b ".repeat(deep / 5)}${"** a*".repeat(deep / 5)}`],
  ])("shows %s as the text that they are, if they are nested without end", async (_, text) => {
    await using screen = await Screen.of(<Markdown text={text} />);
    expect(screen.container.innerHTML.startsWith('<p class="moora-text">')).toBe(true);
    expect(screen.text).toBe(text);
  });

  it("has quotes, lists and emphasis that are nested as deeply as people write", async () => {
    const shown = await html(`${"> - ".repeat(5)}***a ~~b~~* c**`);
    expect(shown.match(/<(blockquote|li|strong|em|del)>/g)).toHaveLength(13);
  });

  it("has the beginning of long arguments in the line of a call, and all of them below", async () => {
    const parameters = `{"text":"${"a".repeat(1_000_000)}"}`;
    const call = { toolCallId: "c", name: "write", status: "done", parameters, input: undefined } as const;
    const part = { type: "tool-call", ...call, result: null, output: undefined } as const;
    const message: ChatMessage = { id: "m1", role: "assistant", streaming: false, parts: [part] };
    await using screen = await Screen.of(<MessageView message={message} />);
    expect(screen.container.querySelector("summary")?.textContent.length).toBeLessThan(600);
    expect(screen.container.querySelector("pre")?.textContent).toBe(parameters);
  });

  it.each([
    ["a very long text", "It is **a tree**.\n\n".repeat(50_000)],
    ["a paragraph without an end", "_a".repeat(15_000)],
    [
      "a table with millions of cells",
      `${"|a".repeat(9_000)}\n${"|-".repeat(9_000)}\n${"|a\n".repeat(1_000)}`,
    ],
    ["a long address that is named often", `[a]: /${"x".repeat(15_000)}\n\n${"[a] b\n\n".repeat(3_000)}`],
  ])("shows %s as it is, in little time", async (_, text) => {
    await using screen = await Screen.of(<Markdown text={text} />);
    expect(screen.container.innerHTML.startsWith('<p class="moora-text">')).toBe(true);
    expect(screen.text).toBe(text);
  });
});
