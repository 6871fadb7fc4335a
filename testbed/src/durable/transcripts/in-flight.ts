import type { ContextEntry } from "@moora/agent-core-state-machine";
import { answers, fails, hangs } from "@moora/llm/testing";
import { call, calls, lastAnswer } from "../counting-agent.ts";
import { waitFor } from "../counting-tools.ts";
import { asked, runs, streams, thinks, waitsToRetry } from "./stages.ts";
import {
  asks,
  inLoops,
  schedules,
  speaks,
  tries,
  type Asked,
  type Deed,
  type Transcript,
} from "./transcript.ts";

const held = (until: string) => ({ name: "hold", arguments: { text: until } });

/** Answers when something was done. */
const answersAfter =
  (deed: string) =>
  async ({ world, signal }: Asked) => {
    await waitFor(deed, world, signal);
    return lastAnswer;
  };

const busy = fails("rate-limit", { retryAfterMs: 5_000 });

const restart = { interjection: "restart" } as const;
const reject = { interjection: "reject" } as const;

const dispatches = (
  name: string,
  input: Readonly<Record<string, unknown>>,
  isDone: NonNullable<Deed["isDone"]> = () => false,
): Deed => ({
  name,
  when: runs("hold"),
  isDone,
  act: ({ session, clock }) => session.dispatch({ ...input, timestamp: clock.now() }),
});

const notes = (text: string, isDone: NonNullable<Deed["isDone"]> = () => false): Deed => ({
  name: "note",
  when: runs("hold"),
  isDone,
  act: ({ session }) => session.note(text),
});

/** Whether an entry of this type waits to be shown to the model, or is shown already. */
const hasEntry =
  (type: ContextEntry["type"]): NonNullable<Deed["isDone"]> =>
  ({ transcript, reActContext: { queued } }) =>
    [...transcript, ...queued].some((entry) => entry.type === type);

const more = "And this, too.";

/** What comes while a loop runs: messages under each policy, notes, a wider window, calls of earlier days. */
export const inFlight: readonly Transcript[] = [
  inLoops("a schedule that is due when the loop has ended", [[[call("look")]]], {
    deeds: [schedules("It is time.", ({ messages }) => messages.length > 0)],
  }),
  inLoops("a message before the first word, queued", [[answersAfter(more)]], {
    deeds: [speaks(more, thinks)],
  }),
  inLoops("a message while a tool runs, queued", [[[held(more)]]], { deeds: [speaks(more, runs("hold"))] }),
  inLoops("a message while a human is asked, queued", [[[call("pay")]]], {
    config: asks("pay"),
    deeds: [speaks(more, asked(1))],
  }),
  inLoops("a message before another try, queued", [[tries(busy, calls([call("look")]))]], {
    deeds: [speaks(more, waitsToRetry)],
  }),
  inLoops("three messages while a tool runs, queued", [[[held("Three.")]]], {
    deeds: ["One.", "Two.", "Three."].map((text) => speaks(text, runs("hold"))),
  }),
  inLoops("a message on the last step, queued", [[[call("look")], answersAfter(more)]], {
    config: { limits: { maxSteps: 2 } },
    deeds: [speaks(more, (view) => view.reActContext.step === 2 && thinks(view))],
  }),
  inLoops("a message before the first word, restarting", [[hangs()]], {
    config: restart,
    deeds: [speaks(more, thinks)],
  }),
  inLoops("a message within an answer, restarting", [[hangs("Well, first")]], {
    config: restart,
    deeds: [speaks(more, streams("Well, first"))],
  }),
  inLoops("a message while tools run, restarting", [[[held("never"), call("pay")]]], {
    config: restart,
    deeds: [
      speaks(more, (view) => runs("hold")(view) && (view.toolCalls["call_2"]?.result ?? null) !== null),
    ],
  }),
  inLoops("a message while a human is asked, restarting", [[[call("pay")]]], {
    config: { ...restart, ...asks("pay") },
    decide: () => undefined,
    deeds: [speaks(more, asked(1))],
  }),
  inLoops("a message before another try, restarting", [[busy]], {
    config: restart,
    deeds: [speaks(more, waitsToRetry)],
  }),
  inLoops("a message while a tool runs, rejected", [[[held(more)]]], {
    config: reject,
    deeds: [{ ...speaks(more, runs("hold")), name: more }],
  }),
  inLoops("a message while a human is asked, rejected", [[[call("pay")]]], {
    config: { ...reject, ...asks("pay") },
    deeds: [speaks(more, asked(1))],
  }),
  inLoops("a note while a tool runs", [[[held("note")]]], {
    deeds: [notes("The shop closes at six.", hasEntry("note"))],
  }),
  inLoops("a blank note while a tool runs", [[[held("note")]]], {
    deeds: [notes(" ")],
  }),
  inLoops(
    "a wider window while a tool runs",
    [[answers("1")], [answers("2")], [answers("3")], [[held("wider")]]],
    {
      says: ["One?", "Two?", "Three?", "Four?"],
      config: { window: { initialSize: 4, expandBy: 4 } },
      deeds: [
        dispatches(
          "wider",
          { type: "context-window-expanded" },
          ({ reActContext }) => reActContext.contextWindowSize === 8,
        ),
      ],
    },
  ),
  inLoops(
    "calls of an earlier loop, put before the model again",
    [[[call("pay"), call("look")]], [[held("again")]]],
    {
      says: ["One.", "Two."],
      deeds: [
        dispatches(
          "again",
          { type: "history-tool-calls-added", toolCallIds: ["call_2", "call_1"] },
          hasEntry("tool-calls"),
        ),
      ],
    },
  ),
];
