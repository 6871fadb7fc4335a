/** How fast a log is folded: millions of inputs a second, and whether it depends on their number. */
import { initialAgentState, replay, type AgentInput } from "@moora/agent-core-state-machine";
import { conversation } from "../conversation.ts";
import { atLeast, timesAtMost, type Row } from "../harness/row.ts";
import { alternating, convertedWay, timedWay, type Way } from "../harness/ways.ts";

const [few, many] = [1_000, 1_000_000];
const from = initialAgentState({ config: { limits: { maxSteps: 60 }, reflection: { aboveInputTokens: 0 } } });

let inputs: readonly AgentInput[] = [];

/** Folds the beginning of one conversation: microseconds an input. */
function foldWay(count: number): Way {
  if (inputs.length < count) inputs = conversation(count);
  const part = inputs.slice(0, count);
  return timedWay(`${count.toLocaleString("en")} inputs`, count, () => replay(part, from));
}

const perSecond = (count: number): Row => ({
  name: `fold/${count}`,
  what: `fold ${count.toLocaleString("en")} inputs`,
  unit: "million/s",
  goal: atLeast(1),
  prepare: () => alternating(convertedWay(foldWay(count), (microseconds) => 1 / microseconds)),
});

export const rows: readonly Row[] = [
  perSecond(few),
  perSecond(many),
  {
    name: "fold/flat",
    what: "input in a fold of 1,000,000 inputs",
    unit: "ns",
    goal: timesAtMost(1.3),
    prepare: () =>
      alternating(
        ...[many, few].map((count) => convertedWay(foldWay(count), (microseconds) => microseconds * 1_000)),
      ),
  },
];
