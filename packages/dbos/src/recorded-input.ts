import type { WorkflowHandle } from "@dbos-inc/dbos-sdk";
import { InputRefused, type AgentInput } from "@moora/agent";
import { isSameJson } from "@moora/agent/internal";

/** The input that the workflow of a key posts. Rejects with `InputRefused`, code `key-reused`, if it is another one. */
export async function recordedInput(
  workflow: Pick<WorkflowHandle<unknown>, "getStatus">,
  input: AgentInput,
  key: string,
): Promise<AgentInput> {
  const [work] = (await workflow.getStatus())?.input ?? [];
  const { input: first }: { readonly input?: AgentInput } = Object(work);
  if (first === undefined) return input;
  if (isSamePost(first, input)) return first;
  const message = `The key ${JSON.stringify(key)} belongs to a post of another input. Give each input a key of its own.`;
  throw new InputRefused({ code: "key-reused", path: "", message });
}

/** Whether two inputs are one post. A caller that repeats a post makes its time and the id of its message again. */
const isSamePost = (one: object, other: object): boolean => isSameJson(contentOf(one), contentOf(other));

const contentOf = (input: object): object => ({ ...input, timestamp: 0, messageId: "" });
