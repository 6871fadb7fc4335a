import { faultOf, type SimAction } from "./action.ts";
import { modelAnswerToOutcome } from "./model-answer.ts";
import type { Pending } from "./pending.ts";
import { atHost, isAppending, nthOf, type Of } from "./perform-at-host.ts";
import { applyRelease } from "./release.ts";
import type { SimHost } from "./sim-host.ts";
import type { SimWorld } from "./sim-world.ts";
import { toolAnswerToOutcome } from "./tool-answer.ts";

/** Lets an action happen. Returns false, and does nothing, where it cannot happen in the world as it is. */
export async function performAction(world: SimWorld, action: SimAction): Promise<boolean> {
  const { control } = world;
  const done = await performOne(world, action);
  const fault = faultOf(action);
  if (done && fault !== undefined) world.hits.push([control, fault]);
  return done;
}

function performOne(world: SimWorld, action: SimAction): boolean | Promise<boolean> {
  switch (action.type) {
    case "message":
    case "cancel":
    case "pause":
    case "schedule":
    case "resume":
    case "update":
    case "decide":
    case "repeat-input":
    case "late-result":
    case "outside-result":
    case "listener-throws":
      return atHost(world, action);
    case "model-streams":
    case "model-answers":
    case "tool-answers":
    case "probe-answers":
    case "append-ends":
      return onPending(world, action);
    case "cancel-sub-agent":
      world.record(`a cancel is due at passage ${action.passage} of the logs of sub-agents`);
      world.cancelIn = action.passage;
      return true;
    case "time-passes":
      world.record("time passes");
      return world.time.fireNext();
    case "clock-jumps":
      world.record(`the clock jumps by ${action.ms} ms`);
      world.time.jump(action.ms);
      return true;
    case "release":
      return release(world, action);
    case "open":
    case "take-up":
    case "take-over":
      return opens(world, action);
    case "crash":
    case "close":
    case "write-fails":
    case "lease":
      return world.owner === undefined ? false : atOwner(world, world.owner, action);
  }
}

const isOf =
  <Type extends Pending["type"]>(type: Type) =>
  (pending: Pending): pending is Extract<Pending, { readonly type: Type }> =>
    pending.type === type;

function onPending(
  world: SimWorld,
  action: Of<"model-streams" | "model-answers" | "tool-answers" | "probe-answers" | "append-ends">,
): boolean {
  const { nth } = action;
  switch (action.type) {
    case "model-streams":
      return stream(world, action);
    case "model-answers":
      return answerModel(world, action);
    case "tool-answers":
      return answerTool(world, action);
    case "probe-answers": {
      const probe = nthOf(world.pending.filter(isOf("probe")), nth);
      if (probe === undefined) return false;
      world.take(probe);
      world.record(`the probe of call ${probe.toolCallId} finds: ${action.found}`);
      probe.answer(action.found === "unknown" ? "unknown" : { isSuccess: true, content: "it ran" });
      return true;
    }
    case "append-ends": {
      const append = nthOf(world.pending.filter(isOf("append")), nth);
      if (append === undefined) return false;
      world.take(append);
      append.finish();
      if (action.crashes === true) crashAppending(world, append.host);
      return true;
    }
  }
}

/** The process dies with its append written, before it starts what the append contains the intents of. */
function crashAppending(world: SimWorld, name: string): void {
  const host = world.hosts.find((other) => other.name === name);
  if (host === undefined) return;
  world.record("the process crashes as its append ends");
  world.crash(host);
}

function stream(world: SimWorld, { text, nth }: Of<"model-streams">): boolean {
  const call = nthOf(world.pending.filter(isOf("llm")), nth);
  if (call === undefined) return false;
  call.streamed += text;
  call.options.onChunk?.({ type: "text", text });
  world.record("the model streams");
  return true;
}

function answerModel(world: SimWorld, { answer, nth }: Of<"model-answers">): boolean {
  const call = nthOf(world.pending.filter(isOf("llm")), nth);
  if (call === undefined) return false;
  world.take(call);
  const calls = (answer.calls ?? []).map(({ name, arguments: args }) => `${name}(${args})`).join(", ");
  world.record(`the model answers: ${answer.kind}${calls === "" ? "" : ` ${calls}`}`);
  const outcome = modelAnswerToOutcome(answer, call.streamed);
  if (outcome === undefined) call.reject(new Error("Simulated: a caller that rejects."));
  else call.answer(outcome);
  return true;
}

function answerTool(world: SimWorld, { answer, nth }: Of<"tool-answers">): boolean {
  const tools = world.pending.filter(isOf("tool"));
  const tool = nthOf(
    tools.filter(({ executes, returned }) => !executes || returned !== undefined),
    nth,
  );
  if (tool === undefined) return false;
  world.take(tool);
  world.record(`call ${tool.toolCallId} of ${tool.name} ends: ${tool.executes ? "real" : answer.kind}`);
  const outcome = tool.returned ?? toolAnswerToOutcome(answer);
  if (outcome === undefined) tool.reject(new Error("Simulated: the tool throws."));
  else tool.answer(outcome);
  return true;
}

function release(world: SimWorld, { release: next }: Of<"release">): boolean {
  const agent = applyRelease(world.agent, world.original, next);
  if (agent === undefined) return false;
  world.agent = agent;
  world.releases.push(`release:${next.change}`);
  world.record(`the next release differs: ${next.change}${"tool" in next ? ` of ${next.tool}` : ""}`);
  return true;
}

async function opens(world: SimWorld, action: Of<"open" | "take-up" | "take-over">): Promise<boolean> {
  switch (action.type) {
    case "open":
      if (world.hosts.length >= 3) return false;
      world.record(`another host opens the session to ${action.access}`);
      await world.open(action.access, false);
      return true;
    case "take-up":
      if (world.owner !== undefined) return false;
      world.record(
        `a host takes the session up${action.approvesAll === true ? " and approves everything" : ""}`,
      );
      await world.open("run", true, action.approvesAll);
      return true;
    case "take-over":
      world.record("another host takes over from a live one");
      await world.open("run", true);
      return true;
  }
}

/** Leases are renewed after a third of their time: 10 of 30 seconds. */
const renewalMs = 10_000;

async function atOwner(
  world: SimWorld,
  owner: SimHost,
  action: Of<"crash" | "close" | "write-fails" | "lease">,
): Promise<boolean> {
  switch (action.type) {
    case "crash":
      world.record("the process crashes");
      world.crash(owner);
      return true;
    case "close":
      world.record("the host closes the session");
      await world.close(owner);
      return true;
    case "write-fails":
      world.record(
        `the next append ${action.on === undefined ? "" : `of a ${action.on} `}fails${action.atOnce === true ? " at once" : ""}: ${action.how}`,
      );
      owner.log.failNext(action.how, action.on, action.atOnce === true);
      return true;
    case "lease":
      if (action.while === "appending" && !isAppending(world, owner)) return false;
      world.record(
        `the next renewal of the lease ${action.renewal === "lost" ? "finds another owner" : "fails"}`,
      );
      owner.log.failNextRenewal(action.renewal);
      world.time.advance(renewalMs);
      return true;
  }
}
