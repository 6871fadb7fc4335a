import { callDigest, toolQuestionDigest } from "@moora/agent-core-effects/internal";
import type { AgentInput, AgentState, InputOf, ObservedToolCall } from "@moora/agent-core-state-machine";
import { messageIdToPostId } from "@moora/agent-core-state-machine/internal";
import { digestOf } from "@moora/event-log";

/**
 * Returns a function that binds the questions and decisions of a copied session to the copy, so that a decision on one
 * session does not answer a question of the other, and a later decision is bound to the edited call. It removes the ids of posts, so
 * that a post to the copy is not a repetition of one to the original. Pass the inputs in order, each with the state before it.
 */
export function rebinder(identity: string): (input: AgentInput, state: () => AgentState) => AgentInput {
  const host = { sessionId: identity, digestOf };
  const renewed = new Map<string, string>();

  const renew = (
    old: string | undefined,
    ...[state, toolCallId, name, parameters]: readonly [AgentState, string, string, string]
  ): { readonly digest?: string } => {
    if (old === undefined) return {};
    const digest = callDigest(state, host, { id: toolCallId, name, parameters });
    renewed.set(old, digest);
    return { digest };
  };

  const observed = (
    input: InputOf<"re-act-observed">,
    calls: Readonly<Record<string, ObservedToolCall>>,
    state: AgentState,
  ): AgentInput => {
    const toolCalls = Object.entries(calls).map(([id, call]) => [
      id,
      { ...call, ...renew(call.digest, state, id, call.name, call.parameters) },
    ]);
    return { ...input, observation: { type: "continue-re-act", toolCalls: Object.fromEntries(toolCalls) } };
  };

  const decided = (input: InputOf<"tool-call-decided">, state: AgentState): AgentInput => {
    const { toolCallId, decision } = input;
    const digest = renewedQuestion(input.digest, renewed);
    if (decision.type !== "modified") return { ...input, digest };
    const name = state.toolCalls[toolCallId]?.name ?? "";
    const bound = renew(decision.digest, state, toolCallId, name, decision.parameters);
    return { ...input, digest, decision: { ...decision, ...bound } };
  };

  const asked = (input: InputOf<"tool-call-asked">): AgentInput => {
    const digest = toolQuestionDigest(input, host);
    renewed.set(input.digest, digest);
    return { ...input, digest };
  };

  return (copied, state) => {
    const input = withoutPostId(copied, identity);
    if (input.type === "tool-call-asked") return asked(input);
    if (input.type === "tool-call-decided") return decided(input, state());
    if (input.type !== "re-act-observed" || input.observation.type !== "continue-re-act") return input;
    const { toolCalls } = input.observation;
    const asks = Object.values(toolCalls).some(({ digest }) => digest !== undefined);
    return asks ? observed(input, toolCalls, state()) : input;
  };
}

/**
 * An input without the id of the post that it records. A message needs an id: it gets one that no message of the copy has or will
 * have, also if copies are copied.
 */
function withoutPostId(input: AgentInput, identity: string): AgentInput {
  if (input.type === "user-message-received") {
    const postId = messageIdToPostId(input.messageId);
    return postId === undefined ? input : { ...input, messageId: `copy_${digestOf(identity, postId)}` };
  }
  if (!("requestId" in input)) return input;
  const { requestId: _, ...rest } = input;
  return rest;
}

/** The renewed digest of a question. A later question about the same call has a number after the digest. */
function renewedQuestion(question: string, renewed: ReadonlyMap<string, string>): string {
  const [digest = "", number] = question.split("#");
  const now = renewed.get(digest) ?? digest;
  return number === undefined ? now : `${now}#${number}`;
}
