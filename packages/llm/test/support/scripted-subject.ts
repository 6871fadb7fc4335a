import type { LlmCaller } from "@moora/llm";
import {
  answers,
  callsTools,
  MockLlmCaller,
  type ConformanceSubject,
  type MockStep,
  type ScriptedAnswer,
  type ServerBehavior,
} from "@moora/llm/testing";

/** A subject without a server: the behaviors of the server are the script of a model. */
export const scriptedSubject = (callerOf: (model: MockLlmCaller) => LlmCaller): ConformanceSubject => ({
  features: ["reasoning", "text-arguments"],
  open: async () => {
    let behaviors: ServerBehavior[] = [];
    const bodies: string[] = [];
    const model = new MockLlmCaller((request) => {
      bodies.push(JSON.stringify(request));
      const behavior = behaviors.length > 1 ? behaviors.shift() : behaviors[0];
      if (behavior?.type !== "answer") throw new Error("A script has answers only.");
      return answerToStep(behavior.answer);
    });
    return {
      caller: callerOf(model),
      serve: (...next) => void (behaviors = [...next]),
      bodies,
      headers: [],
      issued: [],
      received: async () => undefined,
      eventsOf: () => 0,
      close: async () => undefined,
    };
  },
});

function answerToStep({ reasoning, text, calls, finish }: ScriptedAnswer): MockStep {
  const details = {
    ...(reasoning !== undefined && { reasoning }),
    ...(finish === "length" && { finish }),
  };
  return calls
    ? callsTools(
        calls.map((call) => ({
          name: typeof call.name === "string" ? call.name : "",
          arguments: call.arguments.join(""),
        })),
        { ...details, ...(text && { text: text.join("") }) },
      )
    : answers((text ?? []).join(""), details);
}
