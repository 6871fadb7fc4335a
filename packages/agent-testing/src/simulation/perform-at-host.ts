import type { Receipt } from "@moora/agent";
import type { AgentInput, InputType } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import type { SimAction } from "./action.ts";
import { reviewer } from "./call-ledger.ts";
import { check } from "./invariant-broken.ts";
import { publicInputs } from "./log-watch.ts";
import type { SimHost } from "./sim-host.ts";
import { oversizedText } from "./sim-log.ts";
import type { SimWorld } from "./sim-world.ts";

/** The actions of some types. */
export type Of<Type extends SimAction["type"]> = Extract<SimAction, { readonly type: Type }>;

/** Whether an append of this host is under way. */
export const isAppending = ({ pending: all }: SimWorld, { name }: SimHost): boolean =>
  all.some(({ type, host }) => type === "append" && host === name);

/** The item that an action means among those of a list: counted from 0, wrapping around. */
export const nthOf = <T>(items: readonly T[], nth: number = 0): T | undefined =>
  items.length === 0 ? undefined : items[nth % items.length];

const openHostOf = ({ hosts }: SimWorld, nth: number | undefined): SimHost | undefined =>
  nthOf(
    hosts.filter(({ session }) => session !== undefined),
    nth,
  );

/** Lets an action happen that people or the application take through the session of a host. */
export function atHost(
  world: SimWorld,
  action: Of<
    | "message"
    | "cancel"
    | "pause"
    | "schedule"
    | "resume"
    | "update"
    | "decide"
    | "repeat-input"
    | "late-result"
    | "outside-result"
    | "listener-throws"
  >,
): boolean {
  const host = openHostOf(world, action.host);
  if (host?.session === undefined) return false;
  const { session } = host;
  switch (action.type) {
    case "message": {
      const isOversized = action.oversized === true;
      world.record(`a user message${isOversized ? " that no log takes" : ""}`);
      world.offer(session.send(isOversized ? oversizedText : action.text), { isOversized });
      return true;
    }
    case "cancel":
    case "pause":
    case "resume":
      world.record(`a ${action.type}`);
      world.offer(steer(world, host, session, action.type));
      return true;
    case "schedule":
      world.record(`a schedule in ${action.inMs} ms`);
      world.offer(session.dispatch(scheduleOf(world, action)));
      return true;
    case "update": {
      const recipe = nthOf(world.updates, action.nth);
      if (recipe === undefined) return false;
      world.record("the application changes its data");
      world.watch.updatesMade += 1;
      world.offer(session.update(recipe));
      return true;
    }
    case "decide":
      return decide(world, session, action);
    case "repeat-input":
      return dispatchAgain(world, session, action);
    case "late-result":
    case "outside-result":
      return handIn(world, session, action);
    case "listener-throws": {
      const fail = (): never => {
        throw new Error("Simulated: a listener that throws.");
      };
      world.record(`a listener of ${action.on}s throws from now on`);
      if (action.on === "event") session.onEvent(fail);
      else if (action.on === "input") session.onInput(fail);
      else session.subscribe(fail);
      return true;
    }
  }
}

function scheduleOf({ time, watch }: SimWorld, { inMs }: Of<"schedule">): AgentInput {
  const timestamp = time.now();
  const at = timestamp + inMs;
  const schedule = { when: { at }, due: at, message: "It is time.", missed: "once" } as const;
  return { type: "schedule-changed", scheduleId: `s-${watch.length}`, schedule, by: "ada", timestamp };
}

type Opened = NonNullable<SimHost["session"]>;

function steer(
  world: SimWorld,
  host: SimHost,
  session: Opened,
  how: "cancel" | "pause" | "resume",
): Promise<Receipt> {
  if (how === "cancel") return cancel(world, host, session);
  return how === "pause" ? session.pause("not now") : session.resume();
}

/** V24: nothing begins between a cancel that is accepted and its record in the log. */
async function cancel(world: SimWorld, host: SimHost, session: Opened): Promise<Receipt> {
  const canceling: NonNullable<SimHost["canceling"]> = { begun: undefined };
  host.canceling = canceling;
  try {
    const receipt = await session.cancel("enough");
    const { begun } = canceling;
    const isHeld = receipt.status !== "accepted" || begun === undefined;
    world.guard(() => check(isHeld, "V24", () => `a ${begun} begins while a cancel is being stored`));
    return receipt;
  } finally {
    if (host.canceling === canceling) host.canceling = undefined;
  }
}

function decide(
  world: SimWorld,
  session: Opened,
  { question: back = 0, decision, forged }: Of<"decide">,
): boolean {
  const question = world.questions.at(-1 - (back % Math.max(1, world.questions.length)));
  if (question === undefined) return false;
  const asked = forged === true ? { ...question, digest: "forged" } : question;
  const kind = typeof decision === "string" ? decision : (Object.keys(decision)[0] ?? "");
  world.record(
    `a ${forged === true ? "forged " : ""}decision on the ${question.about} of call ${question.toolCallId}: ${kind}`,
  );
  world.offer(session.decide(asked, decision, reviewer), {
    isBelow: question.path !== undefined,
    ...(forged === true ? { invalid: "a forged decision" } : {}),
  });
  return true;
}

function dispatchAgain(world: SimWorld, session: Opened, { back }: Of<"repeat-input">): boolean {
  const { inputs } = world.watch.keeper;
  const input = inputs.length === 0 ? undefined : inputs.at(-1 - (back % inputs.length));
  if (input === undefined || neverRepeated.has(input.type)) return false;
  world.record(`${input.type}${"toolCallId" in input ? ` of call ${input.toolCallId}` : ""}, once more`);
  const invalid = publicInputs.has(input.type) ? {} : { invalid: `a ${input.type} from outside` };
  world.offer(session.dispatch(input), { input, ...invalid });
  return true;
}

/** The application hands in the result of a call that is open, or of one that was settled without its result. */
function handIn(
  world: SimWorld,
  session: Opened,
  { type, nth = 0 }: Of<"late-result" | "outside-result">,
): boolean {
  const isLate = type === "late-result";
  const open = openCallsOf(world.state.reActContext.control).map(({ id }) => id);
  const ids = isLate ? world.watch.calls.abandoned.toReversed() : open;
  const toolCallId = nthOf(ids, nth);
  if (toolCallId === undefined) return false;
  world.record(`${isLate ? "the first, late" : "a"} result of call ${toolCallId} is handed in`);
  if (!isLate) world.watch.outsideResults.add(toolCallId);
  world.offer(
    session.settle(toolCallId, { content: "handed in" }),
    isLate ? { invalid: "a late result" } : {},
  );
  return true;
}

/** What no host dispatches a second time by mistake: a second one means something else. */
const neverRepeated: ReadonlySet<InputType> = new Set<InputType>([
  "session-opened",
  "agent-configured",
  "context-note-added",
  "re-act-cancelled",
  "session-paused",
  "session-resumed",
]);
