import type { WorkflowHandle } from "@dbos-inc/dbos-sdk";
import { InputRefused, type AgentInput } from "@moora/agent";
import { isSameJson } from "@moora/agent/internal";

/** Rejects with `InputRefused`, code `key-reused`, if the workflow of a key posts another input. */
export async function checkKey(
  workflow: Pick<WorkflowHandle<unknown>, "getStatus">,
  input: AgentInput,
  key: string,
): Promise<void> {
  const [work] = (await workflow.getStatus())?.input ?? [];
  const first: unknown = Reflect.get(Object(work), "input");
  if (first === undefined || isSamePost(Object(first), input)) return;
  const message = `The key ${JSON.stringify(key)} belongs to a post of another input. Give each input a key of its own.`;
  throw new InputRefused({ code: "key-reused", path: "", message });
}

/** Whether two inputs are one post. A caller that repeats a post makes its time and the id of its message again. */
const isSamePost = (one: object, other: object): boolean => isSameJson(contentOf(one), contentOf(other));

const contentOf = (input: object): object => ({ ...input, timestamp: 0, messageId: "" });
