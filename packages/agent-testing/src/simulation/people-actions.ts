import type { Receipt } from "@moora/agent";
import { isPaused, type InputType } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import { nthOf, when, type ActionRow, type ActionRows, type Of } from "./action.ts";
import { atAnyHost, atHost, ofFault, type AtHostType, type OpenHost } from "./at-host.ts";
import { reviewer } from "./call-ledger.ts";
import { oneOf } from "./choices.ts";
import { drawDecision } from "./draw-decision.ts";
import { check } from "./invariant-broken.ts";
import { publicInputs } from "./log-watch.ts";
import { hasSubAgents, type SimHost } from "./sim-host.ts";
import { oversizedText } from "./sim-log.ts";
import type { SimWorld } from "./sim-world.ts";

/** What people and the application do through the session of a host. */
export const peopleActions: ActionRows<AtHostType | "cancel-sub-agent"> = {
  message: {
    fault: ({ oversized }) => (oversized === true ? "oversized" : undefined),
    draw: (world, draws) => [
      ...atAnyHost(world, draws, world.pending.length === 0 ? 10 : 2, () => ({
        type: "message",
        text: draws.text(),
      })),
      ...(draws.faults("oversized")
        ? atAnyHost(world, draws, 0.2, () => ({ type: "message", text: "", oversized: true }))
        : []),
    ],
    perform: (world, action) =>
      atHost(world, action, ({ session }) => {
        const isOversized = action.oversized === true;
        world.record(`a user message${isOversized ? " that no log takes" : ""}`);
        world.offer(session.send(isOversized ? oversizedText : action.text), { isOversized });
      }),
    simpler: (action) =>
      action.oversized === true || action.text === "Hello." ? [] : [{ ...action, text: "Hello." }],
  },
  update: {
    draw: (world, draws) =>
      world.updates.length === 0
        ? []
        : atAnyHost(world, draws, 4, () => ({ type: "update", nth: draws.choose(world.updates.length) })),
    perform: (world, action) =>
      atHost(world, action, ({ session }) => {
        const recipe = nthOf(world.updates, action.nth);
        if (recipe === undefined) return false;
        world.record("the application changes its data");
        world.watch.updatesMade += 1;
        world.offer(session.update(recipe));
        return true;
      }),
  },
  cancel: {
    fault: () => "cancel",
    // A cancel that comes during an append is stored after it, while what it makes wanted could begin.
    draw: (world, draws) =>
      ofFault("cancel", world, draws, world.pending.some(({ type }) => type === "append") ? 4 : 1, () => ({
        type: "cancel",
      })),
    perform: (world, action) => steer(world, action, (host) => cancel(world, host)),
  },
  "cancel-sub-agent": {
    draw: (world, { choose, faults }) =>
      when(
        world.hosts.some(({ session }) => session !== undefined) &&
          hasSubAgents(world.original) &&
          world.cancelIn === undefined &&
          faults("cancel:sub-agent"),
        4,
        () => ({ type: "cancel-sub-agent", passage: 1 + choose(mostPassages) }),
      ),
    perform(world, { passage }) {
      world.record(`a cancel is due at passage ${passage} of the logs of sub-agents`);
      world.cancelIn = passage;
      return true;
    },
    simpler: () => [{ type: "cancel" }],
  },
  pause: {
    fault: () => "pause",
    draw: (world, draws) =>
      ofFault("pause", world, draws, isPaused(world.state) ? 0.2 : 1, () => ({ type: "pause" })),
    perform: (world, action) => steer(world, action, ({ session }) => session.pause("not now")),
  },
  resume: {
    draw: (world, draws) =>
      isPaused(world.state) ? atAnyHost(world, draws, 8, () => ({ type: "resume" })) : [],
    perform: (world, action) => steer(world, action, ({ session }) => session.resume()),
  },
  schedule: {
    fault: () => "schedule",
    draw: (world, draws) =>
      ofFault("schedule", world, draws, 1, () => ({
        type: "schedule",
        inMs: oneOf(draws.choose, [0, 5_000, 3_600_000]),
      })),
    perform: (world, action) =>
      atHost(world, action, ({ session }) => {
        world.record(`a schedule in ${action.inMs} ms`);
        const timestamp = world.time.now();
        const at = timestamp + action.inMs;
        const schedule = { when: { at }, due: at, message: "It is time.", missed: "once" };
        const scheduleId = `s-${world.watch.length}`;
        world.offer(
          session.dispatch({ type: "schedule-changed", scheduleId, schedule, by: "ada", timestamp }),
        );
      }),
  },
  "repeat-input": {
    fault: () => "double-answer",
    draw: (world, draws) => {
      const { length } = world.watch;
      const draw = (): Of<"repeat-input"> => ({
        type: "repeat-input",
        back: draws.choose(Math.min(10, length)),
      });
      return length === 0 ? [] : ofFault("double-answer", world, draws, 2, draw);
    },
    perform: (world, action) =>
      atHost(world, action, ({ session }) => {
        const { inputs } = world.watch.keeper;
        const input = inputs.at(-1 - (action.back % Math.max(1, inputs.length)));
        if (input === undefined || neverRepeated.has(input.type)) return false;
        world.record(
          `${input.type}${"toolCallId" in input ? ` of call ${input.toolCallId}` : ""}, once more`,
        );
        const invalid = publicInputs.has(input.type) ? {} : { invalid: `a ${input.type} from outside` };
        world.offer(session.dispatch(input), { input, ...invalid });
        return true;
      }),
  },
  "late-result": handsIn("late-result", ({ watch }) => watch.calls.abandoned.toReversed()),
  "outside-result": handsIn("outside-result", ({ state }) =>
    openCallsOf(state.reActContext.control).map(({ id }) => id),
  ),
  "listener-throws": {
    fault: () => "listener-throws",
    draw: (world, draws) =>
      ofFault("listener-throws", world, draws, 0.2, () => ({
        type: "listener-throws",
        on: oneOf(draws.choose, ["event", "input", "change"]),
      })),
    perform: (world, action) =>
      atHost(world, action, ({ session }) => {
        const fail = (): never => {
          throw new Error("Simulated: a listener that throws.");
        };
        world.record(`a listener of ${action.on}s throws from now on`);
        if (action.on === "event") session.onEvent(fail);
        else if (action.on === "input") session.onInput(fail);
        else session.subscribe(fail);
      }),
  },
  decide: {
    fault: ({ forged }) => (forged === true ? "forged-decision" : undefined),
    draw: (world, draws) =>
      world.questions.slice(-4).flatMap((_, index, last) => {
        const question = last.length - 1 - index;
        const decide = (forged?: true) => (): Of<"decide"> => ({
          type: "decide",
          ...(question === 0 ? {} : { question }),
          decision: drawDecision(world, world.questions.at(-1 - question), draws),
          ...(forged === undefined ? {} : { forged }),
        });
        return [
          ...atAnyHost(world, draws, 5, decide()),
          ...ofFault("forged-decision", world, draws, 1, decide(true)),
        ];
      }),
    perform: (world, action) =>
      atHost(world, action, ({ session }) => {
        const { question: back = 0, decision } = action;
        const isForged = action.forged === true;
        const question = world.questions.at(-1 - (back % Math.max(1, world.questions.length)));
        if (question === undefined) return false;
        const kind = typeof decision === "string" ? decision : (Object.keys(decision)[0] ?? "");
        world.record(
          `a ${isForged ? "forged " : ""}decision on the ${question.about} of call ${question.toolCallId}: ${kind}`,
        );
        const asked = isForged ? { ...question, digest: "forged" } : question;
        world.offer(session.decide(asked, decision, reviewer), {
          isBelow: question.path !== undefined,
          ...(isForged ? { invalid: "a forged decision" } : {}),
        });
        return true;
      }),
    *simpler(action) {
      const { question, ...newest } = action;
      if (question !== undefined) yield newest;
      if (action.decision !== "approve") yield { ...action, decision: "approve" };
    },
  },
};

/** A session of a sub-agent has about as many passages up to its first model call, with those of one that it calls itself. */
const mostPassages = 60;

/** What no host dispatches a second time by mistake: a second one means something else. */
const neverRepeated: ReadonlySet<InputType> = new Set<InputType>([
  "session-opened",
  "agent-configured",
  "context-note-added",
  "re-act-cancelled",
  "session-paused",
  "session-resumed",
]);

const steer = (
  world: SimWorld,
  action: Of<"cancel" | "pause" | "resume">,
  how: (host: OpenHost) => Promise<Receipt>,
): boolean =>
  atHost(world, action, (host) => {
    world.record(`a ${action.type}`);
    world.offer(how(host));
  });

/** V24: nothing begins between a cancel that is accepted and its record in the log. */
async function cancel(world: SimWorld, host: OpenHost): Promise<Receipt> {
  const canceling: NonNullable<SimHost["canceling"]> = { begun: undefined };
  host.canceling = canceling;
  try {
    const receipt = await host.session.cancel("enough");
    const { begun } = canceling;
    const isHeld = receipt.status !== "accepted" || begun === undefined;
    world.guard(() => check(isHeld, "V24", () => `a ${begun} begins while a cancel is being stored`));
    return receipt;
  } finally {
    if (host.canceling === canceling) host.canceling = undefined;
  }
}

/** The application hands in the result of a call that is open, or of one that was settled without its result. */
function handsIn(
  type: "late-result" | "outside-result",
  idsIn: (world: SimWorld) => readonly string[],
): ActionRow<Of<"late-result" | "outside-result">> {
  const isLate = type === "late-result";
  return {
    fault: () => type,
    draw: (world, draws) =>
      idsIn(world).length === 0 ? [] : ofFault(type, world, draws, 1, () => ({ type, nth: draws.choose(3) })),
    perform: (world, action) =>
      atHost(world, action, ({ session }) => {
        const toolCallId = nthOf(idsIn(world), action.nth);
        if (toolCallId === undefined) return false;
        world.record(`${isLate ? "the first, late" : "a"} result of call ${toolCallId} is handed in`);
        if (!isLate) world.watch.outsideResults.add(toolCallId);
        world.offer(
          session.settle(toolCallId, { content: "handed in" }),
          isLate ? { invalid: "a late result" } : {},
        );
        return true;
      }),
  };
}
