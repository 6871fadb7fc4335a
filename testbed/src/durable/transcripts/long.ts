import { call } from "../counting-agent.ts";
import { answersOnce, inLoops, type Transcript } from "./transcript.ts";

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Long transcripts. */
export const long: readonly Transcript[] = [
  inLoops(
    "two hundred turns",
    upTo(200).map((n) => [answersOnce(`A${n}`)]),
    { says: upTo(200).map((n) => `Q${n}`), extras: { tools: [] } },
  ),
  inLoops(
    "two hundred turns with calls and summaries",
    upTo(40).map((n) => [
      [call("pay", n)],
      [call("look", n)],
      [call("pay", n), call("look")],
      [call("look")],
      answersOnce(`A${n}`),
    ]),
    {
      says: upTo(40).map((n) => `Q${n}`),
      config: { reflection: { everyNSteps: 4 } },
      extras: { tools: ["look", "pay"] },
    },
  ),
  inLoops("sixty steps", [upTo(60).map((n) => [call("pay", n)])], {
    config: { limits: { maxSteps: 80 } },
    extras: { tools: ["pay"] },
  }),
];
