import { toolReply } from "@moora/agent";
import { answers, callsTools, fails, hangs, type MockStep } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import type { UIMessage } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChatScene, textOf } from "@moora/testbed/server/chat-scene";
import { pollsUntil, toolOf } from "./support.ts";

type Chat = ReturnType<ChatScene["chat"]>;

const picture = (name: string) => ({
  mediaType: "image/png",
  url: `data:image/png;base64,${btoa(name.padEnd(6, "."))}`,
});

/** A tool that returns so many files after so many milliseconds. */
const draw = (clock: TestClock) =>
  toolOf("draw", async (input) => {
    const { name, files, ms } = input as { name: string; files: number; ms: number };
    await new Promise<void>((resolve) => void clock.after(ms, resolve));
    return toolReply({
      content: name,
      files: Array.from({ length: files }, (_, index) => picture(`${name}${index}`)),
    });
  });

/** What a page shows, without what the AI SDK adds, and without a message that has nothing to show. */
const shown = (messages: readonly UIMessage[]): unknown =>
  messages
    .filter(({ parts }) => parts.some(({ type }) => type !== "step-start"))
    .map(({ id, role, parts }) => ({
      id,
      parts: parts.map((part) => {
        const { type, text, state, toolCallId, output, errorText, mediaType, url } = part as Record<
          string,
          unknown
        >;
        const fields = { type, text, toolCallId, output, errorText, mediaType, url };
        return JSON.parse(JSON.stringify(role === "user" ? fields : { ...fields, state })) as object;
      }),
    }));

const isOver = async (chat: Chat): Promise<void> => expect(["ready", "error"]).toContain(chat.status);

describe("a chat whose answer is taken back by a retry", () => {
  it("keeps the text if it is canceled before the retry begins, also after a reload", async () => {
    const clock = new TestClock();
    const partial = "part one two";
    await using scene = new ChatScene(agentOf([fails("overloaded", { partial }), answers("Hi.")]), { clock });
    const chat = scene.chat();
    const sent = chat.sendMessage({ text: "Hi" });
    await untilPasses(() => expect(JSON.stringify(chat.messages)).toContain("step-start"));
    await untilPasses(() => expect(textOf(chat)).toBe(""));
    // Neither this page nor one that is loaded now shows a text.
    expect(shown((await scene.read()).messages)).toEqual(shown(chat.messages));
    expect(JSON.stringify((await scene.read()).messages)).not.toContain(partial);
    await scene.cancel();
    await sent;
    expect(textOf(chat)).toBe(partial);
    expect(shown((await scene.read()).messages)).toEqual(shown(chat.messages));
    await chat.sendMessage({ text: "Again" });
    expect(shown((await scene.read()).messages)).toEqual(shown(chat.messages));
    expect(scene.errors).toEqual([]);
  });
});

describe("a chat that is read after a reload", () => {
  it("has all parts at the places at which the page has shown them", async () => {
    const text = fc.constantFrom("", "Look.");
    const step = fc.record({
      /** The text of an attempt that fails before. */
      failed: fc.option(fc.constantFrom("", "Half"), { nil: undefined, freq: 3 }),
      text,
      isDrawn: fc.boolean(),
      calls: fc.array(fc.record({ files: fc.nat({ max: 2 }), ms: fc.constantFrom(0, 100, 200) }), {
        minLength: 1,
        maxLength: 3,
      }),
    });
    const ends = ["answer", "picture", "failure", "retry", "stream"] as const;
    const reached = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 3 }),
        fc.constantFrom(...ends),
        text,
        async (steps, end, last) => {
          const clock = new TestClock();
          const drawn = { files: [{ mediaType: "image/gif", data: "AAAA" }] };
          const script = steps.flatMap(
            ({ failed, text: said, isDrawn, calls }, index): readonly MockStep[] => [
              ...(failed === undefined ? [] : [fails("overloaded", { partial: failed })]),
              callsTools(
                calls.map(({ files, ms }, place) => ({
                  name: "draw",
                  // Two results at the same moment have no order.
                  arguments: { name: `${index}${place}`, files, ms: ms + place },
                })),
                { ...(isDrawn ? drawn : {}), ...(said === "" ? {} : { text: said }) },
              ),
            ],
          );
          const lastStep: Readonly<Record<typeof end, MockStep>> = {
            answer: answers(`Done.${last}`),
            picture: answers(last, drawn),
            failure: fails("auth", { partial: last }),
            retry: fails("overloaded", { partial: last, retryAfterMs: 50_000 }),
            stream: hangs("Once"),
          };
          await using scene = new ChatScene(agentOf([...script, lastStep[end]], { tools: [draw(clock)] }), {
            clock,
          });
          const chat = scene.chat();
          const sent = chat.sendMessage({ text: "Draw" });
          if (end === "retry" || end === "stream") {
            await pollsUntil(clock, async () => {
              const { session } = await scene.read();
              const { body } = await scene.scene.as("ada").get(`/sessions/${session}`);
              const { control, step: current } = body.state.reActContext;
              expect([control.type, current]).toEqual(["Planning", steps.length + 1]);
              if (end === "stream") expect(textOf(chat)).toContain("Once");
              else expect(JSON.stringify(control)).toContain("retry");
            });
            await scene.cancel();
          } else await pollsUntil(clock, async () => await isOver(chat));
          await sent;
          reached.add(end);
          expect(shown((await scene.read()).messages)).toEqual(shown(chat.messages));
        },
      ),
      { numRuns: 60 },
    );
    expect(reached).toEqual(new Set(ends));
  });
});
