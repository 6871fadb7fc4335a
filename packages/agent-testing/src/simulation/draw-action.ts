import type { Decision, Question } from "@moora/agent";
import { isPaused } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import type { SimAction } from "./action.ts";
import { oneOf, weighted } from "./choices.ts";
import { drawModelAnswer, drawToolAnswer } from "./draw-answer.ts";
import type { Draws } from "./draws.ts";
import type { Pending } from "./pending.ts";
import { drawRelease } from "./release.ts";
import { isAppending } from "./perform-at-host.ts";
import { hasSubAgents } from "./sim-host.ts";
import { writeFaults } from "./sim-log.ts";
import type { SimWorld } from "./sim-world.ts";

/** A possible action: its weight, and the function that draws its details. */
interface Candidate {
  readonly weight: number;
  readonly draw: () => SimAction | Promise<SimAction>;
}

/** Draws the next action in a world, with the allowed faults. */
export async function drawAction(world: SimWorld, draws: Draws): Promise<SimAction> {
  const candidates = [
    ...world.pending.flatMap((pending) => endsOf(pending, world, draws)),
    ...streams(world, draws),
    ...fromPeople(world, draws),
    ...fromHosts(world, draws),
    ...fromOwner(world, draws),
  ];
  const { draw } = weighted(
    draws.choose,
    candidates.map((candidate) => [candidate.weight, candidate] as const),
  );
  return await draw();
}

/** The position of a pending item among those of its type. */
function nthOf(pending: Pending, { pending: all }: SimWorld): { readonly nth?: number } {
  const nth = all.filter(({ type }) => type === pending.type).indexOf(pending);
  return nth > 0 ? { nth } : {};
}

/** How a pending item can end. An append can end with its process. */
function endsOf(pending: Pending, world: SimWorld, draws: Draws): readonly Candidate[] {
  const end = endOf(pending, world, draws);
  if (pending.type !== "append" || !draws.faults("crash:appended")) return [end];
  return [end, { weight: 1, draw: () => ({ type: "append-ends", ...nthOf(pending, world), crashes: true }) }];
}

function endOf(pending: Pending, world: SimWorld, draws: Draws): Candidate {
  const nth = nthOf(pending, world);
  switch (pending.type) {
    case "llm":
      return {
        weight: 12,
        draw: () => ({
          type: "model-answers",
          answer: drawModelAnswer(pending.request, world.agent.tools, draws),
          ...nth,
        }),
      };
    case "tool":
      return {
        weight: pending.executes && pending.returned === undefined ? 0 : 12,
        draw: async () => ({ type: "tool-answers", answer: await drawToolAnswer(pending, draws), ...nth }),
      };
    case "probe":
      return {
        weight: 12,
        draw: () => ({ type: "probe-answers", found: draws.choose(2) === 0 ? "unknown" : "ran", ...nth }),
      };
    case "sub-agent":
      return { weight: 0, draw: () => ({ type: "time-passes" }) };
    case "append":
      return { weight: 30, draw: () => ({ type: "append-ends", ...nth }) };
  }
}

const streamed = ["Well, ", "\ud83d", "\ude00", "thinking", " "];

const streams = (world: SimWorld, { choose }: Draws): readonly Candidate[] =>
  world.pending
    .filter(({ type }) => type === "llm")
    .map((pending) => ({
      weight: 4,
      draw: () => ({ type: "model-streams", text: oneOf(choose, streamed), ...nthOf(pending, world) }),
    }));

/** A cancel that comes during an append is stored after it, while what it makes wanted could begin. */
const cancelWeight = ({ pending }: SimWorld): number =>
  pending.some(({ type }) => type === "append") ? 4 : 1;

function fromPeople(world: SimWorld, draws: Draws): readonly Candidate[] {
  const { choose, faults } = draws;
  const hosts = world.hosts.filter(({ session }) => session !== undefined).length;
  if (hosts === 0) return [];
  const host = (): { readonly host?: number } => {
    const index = choose(hosts);
    return index === 0 ? {} : { host: index };
  };
  const fault = (name: string, weight: number, draw: () => SimAction): readonly Candidate[] =>
    faults(name) ? [{ weight, draw }] : [];
  const isIdle = world.pending.length === 0;
  return [
    { weight: isIdle ? 10 : 2, draw: () => ({ type: "message", text: draws.text(), ...host() }) },
    ...(world.updates.length === 0
      ? []
      : [
          {
            weight: 4,
            draw: (): SimAction => ({ type: "update", nth: choose(world.updates.length), ...host() }),
          },
        ]),
    ...fault("oversized", 0.2, () => ({ type: "message", text: "", oversized: true, ...host() })),
    ...fault("cancel", cancelWeight(world), () => ({ type: "cancel", ...host() })),
    ...(hasSubAgents(world.original) && world.cancelIn === undefined
      ? fault("cancel:sub-agent", 4, () => ({ type: "cancel-sub-agent", passage: 1 + choose(mostPassages) }))
      : []),
    ...fault("schedule", 1, () => ({
      type: "schedule",
      inMs: oneOf(choose, [0, 5_000, 3_600_000]),
      ...host(),
    })),
    ...fault("pause", isPaused(world.state) ? 0.2 : 1, () => ({ type: "pause", ...host() })),
    ...(isPaused(world.state) ? [{ weight: 8, draw: (): SimAction => ({ type: "resume", ...host() }) }] : []),
    ...(world.watch.length === 0
      ? []
      : fault("double-answer", 2, () => {
          const back = choose(Math.min(10, world.watch.length));
          return { type: "repeat-input", back, ...host() };
        })),
    ...(world.watch.calls.abandoned.length === 0
      ? []
      : fault("late-result", 1, () => ({ type: "late-result", nth: choose(3), ...host() }))),
    ...(openCallsOf(world.state.reActContext.control).length === 0
      ? []
      : fault("outside-result", 1, () => ({ type: "outside-result", nth: choose(3), ...host() }))),
    ...fault("listener-throws", 0.2, () => ({
      type: "listener-throws",
      on: oneOf(choose, ["event", "input", "change"]),
      ...host(),
    })),
    ...world.questions.slice(-4).flatMap((_, index, last): readonly Candidate[] => {
      const question = last.length - 1 - index;
      const decide = (forged?: true) => (): SimAction => ({
        type: "decide",
        ...(question === 0 ? {} : { question }),
        decision: drawDecision(world, world.questions.at(-1 - question), draws),
        ...(forged === undefined ? {} : { forged }),
        ...host(),
      });
      return [{ weight: 5, draw: decide() }, ...fault("forged-decision", 1, decide(true))];
    }),
  ];
}

function drawDecision(world: SimWorld, question: Question | undefined, draws: Draws): Decision {
  const { choose } = draws;
  if (question?.about === "answer")
    return choose(4) === 0 ? { reject: "I do not know" } : { answer: "the red one" };
  if (question?.about === "outcome") {
    return oneOf<Decision>(choose, [
      { outcome: "run-again" },
      { outcome: "worked", result: "it was done" },
      { outcome: "failed", reason: "it is not there" },
      { outcome: "unknown" },
      "approve",
    ]);
  }
  const name = question?.name ?? "";
  const schema = world.agent.tools[name]?.schema;
  const changed: unknown =
    schema === undefined ? {} : JSON.parse(draws.argumentsFor(name, JSON.parse(schema)));
  // As a reviewer who leaves one out.
  const [, ...others] = Object.entries(typeof changed === "object" && changed !== null ? changed : {});
  const lacking = choose(4) === 0 ? Object.fromEntries(others) : changed;
  return oneOf<Decision>(choose, ["approve", "approve", { reject: "no" }, { approve: lacking }]);
}

function fromHosts(world: SimWorld, draws: Draws): readonly Candidate[] {
  const { choose, faults } = draws;
  const { owner, time, hosts } = world;
  const release = (): SimAction | undefined => {
    const drawn = drawRelease(world.agent, choose, faults);
    return drawn === undefined ? undefined : { type: "release", release: drawn };
  };
  return [
    { weight: time.waiting > 0 ? 2 : 0, draw: () => ({ type: "time-passes" }) },
    ...(faults("clock-jump")
      ? [{ weight: 1, draw: (): SimAction => ({ type: "clock-jumps", ms: oneOf(choose, jumps) }) }]
      : []),
    ...(faults("second-host") && hosts.length < 3
      ? [
          {
            weight: 1,
            draw: (): SimAction => ({ type: "open", access: oneOf(choose, ["run", "post"]) }),
          },
        ]
      : []),
    ...(faults("release") ? [{ weight: 2, draw: () => release() ?? { type: "time-passes" } } as const] : []),
    ...(owner === undefined ? [{ weight: 40, draw: () => takeUp(draws) }] : []),
  ];
}

/** A session of a sub-agent has about as many passages up to its first model call, with those of one that it calls itself. */
const mostPassages = 60;

const jumps = [-3_600_000, -1, 5_000, 86_400_000];

const takeUp = ({ choose, faults }: Draws): SimAction =>
  faults("blanket-approval") && choose(4) === 0
    ? { type: "take-up", approvesAll: true }
    : { type: "take-up" };

function fromOwner(world: SimWorld, { choose, faults }: Draws): readonly Candidate[] {
  const { owner } = world;
  if (owner === undefined) return [];
  const writes = writeFaults.filter((how) => faults(`write:${how}`));
  const fault = (name: string, weight: number, draw: () => SimAction): readonly Candidate[] =>
    faults(name) ? [{ weight, draw }] : [];
  const isFree = !owner.log.failsNext;
  return [
    ...fault("crash", 2, () => ({ type: "crash" })),
    ...fault("takeover", 1, () => ({ type: "take-over" })),
    ...fault("close", 1, () => ({ type: "close" })),
    ...(isFree && writes.length > 0
      ? [
          { weight: 2, draw: (): SimAction => ({ type: "write-fails", how: oneOf(choose, writes) }) },
          {
            weight: 1,
            draw: (): SimAction => ({ type: "write-fails", how: oneOf(choose, writes), atOnce: true }),
          },
        ]
      : []),
    ...(isFree
      ? fault("write:decision", 1.5, () => ({
          type: "write-fails",
          how: oneOf(choose, writeFaults),
          on: "decision",
        }))
      : []),
    ...(isFree
      ? fault("write:group", 1, () => ({ type: "write-fails", how: oneOf(choose, writeFaults), on: "group" }))
      : []),
    ...fault("lease:lost", 0.5, () => ({ type: "lease", renewal: "lost" })),
    ...fault("lease:fails", 0.5, () => ({ type: "lease", renewal: "fails" })),
    ...(isAppending(world, owner)
      ? fault("lease:in-append", 2, () => ({ type: "lease", renewal: "lost", while: "appending" }))
      : []),
  ];
}
