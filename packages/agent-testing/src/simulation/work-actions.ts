import { nthOf, type ActionRows } from "./action.ts";
import { oneOf } from "./choices.ts";
import { modelAnswerToOutcome } from "./model-answer.ts";
import type { Pending } from "./pending.ts";
import { positionOf } from "./pending-ends.ts";
import type { SimWorld } from "./sim-world.ts";
import { simplerModelAnswers } from "./simpler-answers.ts";
import { toolAnswerToOutcome, type ToolAnswer } from "./tool-answer.ts";

const streamed = ["Well, ", "\ud83d", "\ude00", "thinking", " "];

const plainResult: ToolAnswer = { kind: "success", outcome: { isSuccess: true, content: "ok" } };

/** What becomes of work that is pending: of the model, of tools, of probes, and of appends. */
export const workActions: ActionRows<
  "model-streams" | "model-answers" | "tool-answers" | "probe-answers" | "append-ends"
> = {
  "model-streams": {
    fault: () => "llm:chunk",
    draw: (world, { choose }) =>
      pendingOf(world, "llm").map((pending) => ({
        weight: 4,
        draw: () => ({ type: "model-streams", text: oneOf(choose, streamed), ...positionOf(pending, world) }),
      })),
    perform(world, { text, nth }) {
      const call = nthOf(pendingOf(world, "llm"), nth);
      if (call === undefined) return false;
      call.streamed += text;
      call.options.onChunk?.({ type: "text", text });
      world.record("the model streams");
      return true;
    },
  },
  "model-answers": {
    fault: ({ answer }) => `llm:${answer.kind}`,
    perform(world, { answer, nth }) {
      const call = nthOf(pendingOf(world, "llm"), nth);
      if (call === undefined) return false;
      world.take(call);
      const calls = (answer.calls ?? []).map(({ name, arguments: args }) => `${name}(${args})`).join(", ");
      world.record(`the model answers: ${answer.kind}${calls === "" ? "" : ` ${calls}`}`);
      const outcome = modelAnswerToOutcome(answer, call.streamed);
      if (outcome === undefined) call.reject(new Error("Simulated: a caller that rejects."));
      else call.answer(outcome);
      return true;
    },
    *simpler(action) {
      for (const answer of simplerModelAnswers(action.answer)) yield { ...action, answer };
    },
  },
  "tool-answers": {
    fault: ({ answer }) => `tool:${answer.kind}`,
    perform(world, { answer, nth }) {
      const ended = pendingOf(world, "tool").filter(
        ({ executes, returned }) => !executes || returned !== undefined,
      );
      const tool = nthOf(ended, nth);
      if (tool === undefined) return false;
      world.take(tool);
      world.record(`call ${tool.toolCallId} of ${tool.name} ends: ${tool.executes ? "real" : answer.kind}`);
      const outcome = tool.returned ?? toolAnswerToOutcome(answer);
      if (outcome === undefined) tool.reject(new Error("Simulated: the tool throws."));
      else tool.answer(outcome);
      return true;
    },
    simpler: (action) =>
      action.answer.kind === "real" || action.answer.outcome?.isSuccess === true
        ? []
        : [{ ...action, answer: plainResult }],
  },
  "probe-answers": {
    perform(world, { found, nth }) {
      const probe = nthOf(pendingOf(world, "probe"), nth);
      if (probe === undefined) return false;
      world.take(probe);
      world.record(`the probe of call ${probe.toolCallId} finds: ${found}`);
      probe.answer(found === "unknown" ? "unknown" : { isSuccess: true, content: "it ran" });
      return true;
    },
  },
  "append-ends": {
    fault: ({ crashes }) => (crashes === true ? "crash:appended" : undefined),
    perform(world, { nth, crashes }) {
      const append = nthOf(pendingOf(world, "append"), nth);
      if (append === undefined) return false;
      world.take(append);
      append.finish();
      if (crashes === true) crashAppending(world, append.host);
      return true;
    },
  },
};

const pendingOf = <Type extends Pending["type"]>(
  { pending }: SimWorld,
  type: Type,
): readonly Extract<Pending, { readonly type: Type }>[] => {
  const isOfType = (each: Pending): each is Extract<Pending, { readonly type: Type }> => each.type === type;
  return pending.filter(isOfType);
};

/** The process dies with its append written, before it starts what the append contains the intents of. */
function crashAppending(world: SimWorld, name: string): void {
  const host = world.hosts.find((other) => other.name === name);
  if (host === undefined) return;
  world.record("the process crashes as its append ends");
  world.crash(host);
}
