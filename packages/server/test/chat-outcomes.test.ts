import { askHuman } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock } from "@moora/testbed/test-clock";
import type { UIMessage } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChatScene } from "@moora/testbed/server/chat-scene";
import { pay } from "./chat-scene.ts";

type Chat = ReturnType<ChatScene["chat"]>;

/** How a question ends, before the page answers it, or by its answer. */
const ends = ["page", "ada", "boss", "expired", "canceled"] as const;

const questions = fc.record({
  tool: fc.constantFrom("pay", "ask_human"),
  end: fc.constantFrom(...ends),
  approves: fc.boolean(),
  /** Whether a reviewer approves other arguments. */
  changes: fc.boolean(),
  reason: fc.option(fc.constantFrom("Because."), { nil: undefined }),
  /** What the page answers, also if the question has ended before. */
  answer: fc.record({
    approved: fc.boolean(),
    reason: fc.option(fc.constantFrom("I say so."), { nil: undefined }),
  }),
});

type Question = typeof questions extends fc.Arbitrary<infer Value> ? Value : never;

/** What a page shows: the fields of each state. An approval without an answer shows nothing. */
const shown = (messages: readonly UIMessage[]): unknown =>
  messages.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) => {
      const { type, text, state, toolName, input, output, errorText, approval } = part as Record<
        string,
        unknown
      >;
      const { approved, reason } = (approval ?? {}) as {
        readonly approved?: boolean;
        readonly reason?: string;
      };
      const isOpen = state === "approval-requested" || approved === undefined;
      const decided = isOpen ? undefined : { approved, reason };
      const outcome =
        state === "output-available" ? { output } : state === "output-error" ? { errorText } : {};
      const fields = { type, text, toolName, input, decided, ...outcome };
      const isOfUser = role === "user" && type === "text";
      return JSON.parse(JSON.stringify(isOfUser ? fields : { ...fields, state })) as object;
    }),
  }));

interface Call {
  readonly toolCallId: string;
  readonly state: string;
  readonly approval?: { readonly id: string };
}

/** The call of the first answer of a chat. */
const callOf = (chat: Chat): Call => chat.messages[1]?.parts[1] as never;

async function answerIn(chat: Chat, { tool, answer: { approved, reason } }: Question): Promise<void> {
  const { toolCallId, approval } = callOf(chat);
  if (tool === "pay") {
    const why = reason === undefined ? {} : { reason };
    return await chat.addToolApprovalResponse({ id: approval?.id ?? "", approved, ...why });
  }
  const output = approved
    ? { output: "red" }
    : { state: "output-error" as const, errorText: reason ?? "The question was not answered." };
  await chat.addToolOutput({ tool: tool as never, toolCallId, ...(output as { output: unknown }) });
}

async function endElsewhere(scene: ChatScene, clock: TestClock, question: Question): Promise<void> {
  const { tool, end, approves, changes, reason } = question;
  if (end === "page") return;
  const ada = scene.scene.as("ada");
  const [{ id }] = (await ada.get("/sessions")).body.sessions;
  const path = `/sessions/${id}`;
  if (end === "expired") await clock.advanceAsync(60_000);
  else if (end === "canceled") await ada.post(`${path}/cancel`);
  else {
    const [{ toolCallId, digest }] = (await ada.get(path)).body.questions;
    const approval = changes ? { approve: { cents: 22 } } : "approve";
    const yes = tool === "pay" ? approval : { answer: "blue" };
    const decision = approves ? yes : { reject: reason ?? "No." };
    const { body } = await scene.scene.as(end).post(`${path}/decisions`, { toolCallId, digest, decision });
    expect(body).toMatchObject({ status: "accepted" });
  }
  const control = async () => (await ada.get(path)).body.state.reActContext.control.type;
  await expect.poll(control, { interval: 1 }).toMatch(/^(?:Done|Error)$/);
}

describe("a page with the outcome of a question", () => {
  it("shows the same after a reload, for each user who may have decided, and each answer of the page", async () => {
    const states = new Set<string>();
    await fc.assert(
      fc.asyncProperty(questions, async (question) => {
        const clock = new TestClock();
        const given = question.tool === "pay" ? { cents: 5 } : { question: "Which?" };
        const agent = agentOf([callsTools([{ name: question.tool, arguments: given }]), answers("Done.")], {
          tools: [pay(), askHuman()],
          config: { approval: { policy: "never", expiresAfterMs: 60_000 } },
        });
        const authorize = (request: Request) => ({
          user: request.headers.get("authorization")?.slice("Bearer ".length) ?? "",
          mayForeign: () => true,
        });
        await using scene = new ChatScene(agent, { clock, authorize });
        const chat = scene.chat();
        await chat.sendMessage({ text: "Go" });
        await endElsewhere(scene, clock, question);
        await answerIn(chat, question);
        await scene.rests(chat);
        expect(chat.status).toBe("ready");
        const { body } = await scene.scene.as("ada").get("/agents/helper/chat/chat-1");
        expect(shown(chat.messages)).toEqual(shown((body as { messages: UIMessage[] }).messages));
        states.add(callOf(chat).state);
        expect(scene.errors).toEqual([]);
      }),
      { numRuns: 100 },
    );
    expect(states).toEqual(new Set(["output-available", "output-denied", "output-error"]));
  });
});
