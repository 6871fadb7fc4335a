import {
  defineAgent,
  type Agent,
  type AgentConfigChange,
  type AnyData,
  type DataDefinition,
  type Tool,
} from "@moora/agent";
import type { LlmCaller } from "@moora/llm";
import { MockLlmCaller, type MockScript } from "@moora/llm/testing";

/** An agent with the name `helper`, and a scripted model or another one. */
export const agentOf = (
  script: MockScript | LlmCaller,
  more: {
    readonly name?: string;
    readonly tools?: readonly Tool[];
    readonly config?: AgentConfigChange;
    readonly data?: AnyData;
  } = {},
): Agent =>
  defineAgent({
    llm: typeof script === "object" && "call" in script ? script : new MockLlmCaller(script),
    name: "helper",
    ...(more as { data?: DataDefinition }),
  });
