import { describe, expect, it } from "vitest";
import type { LlmCaller, LlmChunk, LlmOutcome, LlmPart } from "@moora/llm";
import { ConformanceError, llmConformance, type ConformanceSubject } from "@moora/llm/testing";
import { scriptedSubject } from "./support/scripted-subject.ts";

describe("a scripted model is a conforming caller", () => {
  it.each(llmConformance(scriptedSubject((model) => model)))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

/** A caller with one fault, and the case that detects it. */
interface Fault {
  readonly fault: string;
  readonly noticedBy: string;
  readonly change: (call: LlmCaller["call"]) => LlmCaller["call"];
}

type Success = Extract<LlmOutcome, { ok: true }>;

const changeOutcome =
  (change: (outcome: Success) => LlmOutcome) =>
  (call: LlmCaller["call"]): LlmCaller["call"] =>
  async (...given) => {
    const outcome = await call(...given);
    return outcome.ok ? change(outcome) : outcome;
  };

const changeParts = (change: (parts: readonly LlmPart[]) => readonly LlmPart[]): Fault["change"] =>
  changeOutcome((outcome) => ({ ...outcome, turn: { ...outcome.turn, parts: change(outcome.turn.parts) } }));

const without =
  (name: "signal" | "onChunk"): Fault["change"] =>
  (call) =>
  (request, options) => {
    const left = { ...options };
    delete left[name];
    return call(request, left);
  };

const changeChunks =
  (change: (chunk: LlmChunk) => readonly LlmChunk[]): Fault["change"] =>
  (call) =>
  (request, options) =>
    call(request, {
      ...options,
      onChunk: (chunk) => {
        for (const made of change(chunk)) options?.onChunk?.(made);
      },
    });

const faults: readonly Fault[] = [
  {
    fault: "loses the last part",
    noticedBy: "a plain answer is complete, with its finish reason and its model",
    change: changeParts((parts) => parts.slice(0, -1)),
  },
  {
    fault: "reverses the parts",
    noticedBy: "reasoning is separate from text and precedes it",
    change: changeParts((parts) => parts.toReversed()),
  },
  {
    fault: "always has the finish reason stop",
    noticedBy: "an answer that was cut by the token limit has the finish reason length",
    change: changeOutcome((outcome) => ({ ...outcome, finish: { unified: "stop", raw: "" } })),
  },
  {
    fault: "has no origin",
    noticedBy: "a plain answer is complete, with its finish reason and its model",
    change: changeOutcome((outcome) => ({ ...outcome, turn: { ...outcome.turn, origin: "" } })),
  },
  {
    fault: "does not stream arguments",
    noticedBy: "the arguments of calls are streamed, each piece with the number of its call",
    change: changeChunks((chunk) => (chunk.type === "tool-call-delta" ? [] : [chunk])),
  },
  {
    fault: "streams all arguments as those of one call",
    noticedBy: "the arguments of calls are streamed, each piece with the number of its call",
    change: changeChunks((chunk) => [chunk.type === "tool-call-delta" ? { ...chunk, index: 1 } : chunk]),
  },
  {
    fault: "does not end what it streams",
    noticedBy: "the arguments of calls are streamed, each piece with the number of its call",
    change: changeChunks((chunk) => (chunk.type === "part-end" ? [] : [chunk])),
  },
  { fault: "never streams", noticedBy: "text is streamed while it is generated", change: without("onChunk") },
  {
    fault: "ignores its signal",
    noticedBy: "a call that is aborted while it streams ends with the text so far",
    change: without("signal"),
  },
  {
    fault: "fails when its listener throws",
    noticedBy: "a listener that throws does not break the call",
    change: (call) => async (request, options) => {
      options?.onChunk?.({ type: "text", text: "" });
      return call(request, options);
    },
  },
  {
    fault: "repairs arguments",
    noticedBy: "malformed arguments are unchanged",
    change: changeParts((parts) =>
      parts.map((part) =>
        part.type === "tool-call" ? { ...part, arguments: part.arguments.replaceAll("'", '"') } : part,
      ),
    ),
  },
  {
    fault: "cuts text at 64 KB",
    noticedBy: "a large answer is complete",
    change: changeParts((parts) =>
      parts.map((part) => (part.type === "text" ? { ...part, text: part.text.slice(0, 65_536) } : part)),
    ),
  },
];

const subjectWith = (change: Fault["change"]): ConformanceSubject =>
  scriptedSubject((model) => ({ name: "broken", call: change((...given) => model.call(...given)) }));

describe("the suite detects a caller that", () => {
  it.each(faults)("$fault", async ({ change, noticedBy }) => {
    const ends = await Promise.all(
      llmConformance(subjectWith(change)).map(({ name, run }) =>
        run().then(
          () => "passed",
          () => name,
        ),
      ),
    );
    expect(ends).toContain(noticedBy);
  });

  it("has a fault, with an error that describes it", async () => {
    const subject = subjectWith(changeParts(() => [{ type: "text", text: "4" }]));
    const [first] = llmConformance(subject);
    await expect(first?.run()).rejects.toThrow(ConformanceError);
    await expect(first?.run()).rejects.toThrow('The text must be "The sum is 3.", got "4"');
  });
});
