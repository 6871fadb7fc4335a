import { when, type ActionRows, type Candidate, type Of } from "./action.ts";
import { oneOf } from "./choices.ts";
import type { Draws } from "./draws.ts";
import { applyRelease, drawRelease } from "./release.ts";
import type { SimHost } from "./sim-host.ts";
import { writeFaults } from "./sim-log.ts";
import type { SimWorld } from "./sim-world.ts";

const jumps = [-3_600_000, -1, 5_000, 86_400_000];

/** Leases are renewed after a third of their time: 10 of 30 seconds. */
const renewalMs = 10_000;

/** What happens to the processes that host the session, to their clock and to their log. */
export const hostActions: ActionRows<
  | "time-passes"
  | "clock-jumps"
  | "open"
  | "release"
  | "take-up"
  | "crash"
  | "take-over"
  | "close"
  | "write-fails"
  | "lease"
> = {
  "time-passes": {
    draw: ({ time }) => when(time.waiting > 0, 2, () => ({ type: "time-passes" })),
    perform(world) {
      world.record("time passes");
      return world.time.fireNext();
    },
  },
  "clock-jumps": {
    fault: () => "clock-jump",
    draw: (_, { choose, faults }) =>
      when(faults("clock-jump"), 1, () => ({ type: "clock-jumps", ms: oneOf(choose, jumps) })),
    perform(world, { ms }) {
      world.record(`the clock jumps by ${ms} ms`);
      world.time.jump(ms);
      return true;
    },
  },
  open: {
    fault: () => "second-host",
    draw: ({ hosts }, { choose, faults }) =>
      when(faults("second-host") && hosts.length < 3, 1, () => ({
        type: "open",
        access: oneOf(choose, ["run", "post"]),
      })),
    async perform(world, { access }) {
      if (world.hosts.length >= 3) return false;
      world.record(`another host opens the session to ${access}`);
      await world.open(access, false);
      return true;
    },
  },
  release: {
    draw: ({ agent }, { choose, faults }) =>
      when(faults("release"), 2, () => {
        const release = drawRelease(agent, choose, faults);
        return release === undefined ? { type: "time-passes" } : { type: "release", release };
      }),
    perform(world, { release }) {
      const agent = applyRelease(world.agent, world.original, release);
      if (agent === undefined) return false;
      world.agent = agent;
      world.releases.push(`release:${release.change}`);
      world.record(
        `the next release differs: ${release.change}${"tool" in release ? ` of ${release.tool}` : ""}`,
      );
      return true;
    },
  },
  "take-up": {
    fault: ({ approvesAll }) => (approvesAll === true ? "blanket-approval" : undefined),
    draw: ({ owner }, { choose, faults }) =>
      when(owner === undefined, 40, () => ({
        type: "take-up",
        ...(faults("blanket-approval") && choose(4) === 0 ? { approvesAll: true } : {}),
      })),
    async perform(world, { approvesAll }) {
      if (world.owner !== undefined) return false;
      world.record(`a host takes the session up${approvesAll === true ? " and approves everything" : ""}`);
      await world.open("run", true, approvesAll);
      return true;
    },
    // What ended the owner before can be left out then.
    simpler: ({ approvesAll }) => (approvesAll === true ? [] : [{ type: "take-over" }]),
  },
  crash: {
    fault: () => "crash",
    draw: (world, draws) => ofOwner("crash", world, draws, 2, () => ({ type: "crash" })),
    perform: (world) =>
      atOwner(world, (owner) => {
        world.record("the process crashes");
        world.crash(owner);
      }),
  },
  "take-over": {
    fault: () => "takeover",
    draw: (world, draws) => ofOwner("takeover", world, draws, 1, () => ({ type: "take-over" })),
    async perform(world) {
      world.record("another host takes over from a live one");
      await world.open("run", true);
      return true;
    },
  },
  close: {
    fault: () => "close",
    draw: (world, draws) => ofOwner("close", world, draws, 1, () => ({ type: "close" })),
    perform: (world) =>
      atOwner(world, async (owner) => {
        world.record("the host closes the session");
        await world.close(owner);
      }),
  },
  "write-fails": {
    fault: ({ on, how }) => `write:${on ?? how}`,
    draw(world, draws) {
      const { owner } = world;
      if (owner === undefined || owner.log.failsNext) return [];
      const { choose, faults } = draws;
      const possible = writeFaults.filter((how) => faults(`write:${how}`));
      const fails = (of: readonly Of<"write-fails">["how"][], more: object) => (): Of<"write-fails"> => ({
        type: "write-fails",
        how: oneOf(choose, of),
        ...more,
      });
      return [
        ...when(possible.length > 0, 2, fails(possible, {})),
        ...when(possible.length > 0, 1, fails(possible, { atOnce: true })),
        ...when(faults("write:decision"), 1.5, fails(writeFaults, { on: "decision" })),
        ...when(faults("write:group"), 1, fails(writeFaults, { on: "group" })),
      ];
    },
    perform: (world, { how, on, atOnce = false }) =>
      atOwner(world, (owner) => {
        world.record(
          `the next append ${on === undefined ? "" : `of a ${on} `}fails${atOnce ? " at once" : ""}: ${how}`,
        );
        owner.log.failNext(how, on, atOnce);
      }),
  },
  lease: {
    fault: (action) => (action.while === undefined ? `lease:${action.renewal}` : "lease:in-append"),
    draw: (world, draws) => [
      ...ofOwner("lease:lost", world, draws, 0.5, () => ({ type: "lease", renewal: "lost" })),
      ...ofOwner("lease:fails", world, draws, 0.5, () => ({ type: "lease", renewal: "fails" })),
      ...(isAppending(world)
        ? ofOwner("lease:in-append", world, draws, 2, () => ({
            type: "lease",
            renewal: "lost",
            while: "appending",
          }))
        : []),
    ],
    perform: (world, action) =>
      atOwner(world, (owner) => {
        if (action.while === "appending" && !isAppending(world)) return false;
        const { renewal } = action;
        world.record(`the next renewal of the lease ${renewal === "lost" ? "finds another owner" : "fails"}`);
        owner.log.failNextRenewal(renewal);
        world.time.advance(renewalMs);
        return true;
      }),
  },
};

/** A fault of a host that runs the session. */
const ofOwner = (
  name: string,
  { owner }: SimWorld,
  { faults }: Draws,
  ...given: [weight: number, draw: Candidate["draw"]]
): readonly Candidate[] => when(owner !== undefined && faults(name), ...given);

/** Does something to the host that runs the session. `use` returns false where it cannot happen. */
async function atOwner(
  { owner }: SimWorld,
  use: (owner: SimHost) => boolean | void | Promise<void>,
): Promise<boolean> {
  return owner !== undefined && (await use(owner)) !== false;
}

/** Whether an append of the owner is under way. */
const isAppending = ({ pending, owner }: SimWorld): boolean =>
  pending.some(({ type, host }) => type === "append" && host === owner?.name);
