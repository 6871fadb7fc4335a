/** The agent of the benchmark of hosts: it calls a tool that returns at once after each model call but the last. */
import { defineAgent, defineTool, type Agent, type AgentState } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";

/** Model calls of a loop. */
const modelCalls = 10;

/** Model calls and tool calls of a loop. */
export const calls: number = modelCalls * 2 - 1;

/** `onLastCall`: called when the last model call of a loop begins. */
export const stepsAgent = (onLastCall: () => void = () => undefined): Agent =>
  defineAgent({
    name: "steps",
    llm: new MockLlmCaller(({ messages }) => {
      const begun = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
      if (begun.filter(({ role }) => role === "assistant").length < modelCalls - 1)
        return callsTools([{ name: "work" }]);
      onLastCall();
      return answers("Done.");
    }),
    tools: [
      defineTool({ name: "work", description: "Works.", input: { type: "object" }, execute: () => "ok" }),
    ],
  });

export const isDone = ({ reActContext: { control } }: AgentState): boolean => control.type === "Done";
