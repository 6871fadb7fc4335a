import type { Decision, Question } from "@moora/agent";
import type { Choose } from "../draw-input.ts";
import { drawJson } from "./draw-json.ts";
import { oneOf } from "./choices.ts";
import type { PendingLlm, PendingTool } from "./pending.ts";
import { drawLlmKind, outcomeOf } from "./sim-llm.ts";
import type { SimHost, SimWorld } from "./sim-world.ts";
import { drawToolKind, toolOutcomeOf } from "./sim-tools.ts";

/** Something that can happen now: how likely, what kind of fault it counts as, and the happening itself. */
export interface Action {
  readonly weight: number;
  readonly fault: string;
  readonly run: () => void | Promise<void>;
}

/** Everything that can happen in a world as it is. `faults` says which kinds may. */
export function actionsIn(world: SimWorld, faults: (name: string) => boolean): readonly Action[] {
  const all = [...workActions(world, faults), ...peopleActions(world), ...hostActions(world)];
  return all.filter(({ fault }) => fault === "none" || faults(fault));
}

function workActions(world: SimWorld, faults: (name: string) => boolean): readonly Action[] {
  return world.pending.flatMap((pending): Action[] => {
    switch (pending.type) {
      case "llm":
        return [
          { weight: 12, fault: "none", run: () => answerLlm(world, pending, faults) },
          { weight: 4, fault: "none", run: () => streamTo(world, pending) },
        ];
      case "tool":
        return [{ weight: 12, fault: "none", run: () => answerTool(world, pending, faults) }];
      case "probe":
        return [
          {
            weight: 12,
            fault: "none",
            run: () => {
              world.take(pending);
              const found =
                world.choose(2) === 0 ? "unknown" : ({ isSuccess: true, content: "it ran" } as const);
              world.tell(
                `the probe of ${pending.toolCallId} says ${typeof found === "string" ? found : "it ran"}`,
              );
              pending.answer(found);
            },
          },
        ];
      case "append":
        return [
          {
            weight: 30,
            fault: "none",
            run: () => {
              world.take(pending);
              pending.finish();
            },
          },
        ];
    }
  });
}

/** Ends a model call in a drawn way; the kind is counted as a fault by whoever reads the story. */
function answerLlm(world: SimWorld, pending: PendingLlm, faults: (name: string) => boolean): void {
  const kind = drawLlmKind(world.choose, faults);
  world.take(pending);
  world.tell(`llm:${kind}`);
  const outcome = outcomeOf(kind, pending.request, pending.streamed, world.choose);
  if (outcome === undefined) pending.reject(new Error("Simulated: a caller that rejects."));
  else pending.answer(outcome);
}

function streamTo(world: SimWorld, pending: PendingLlm): void {
  const text = oneOf(world.choose, ["Well, ", "\ud83d", "\ude00", "thinking", " "]);
  pending.streamed += text;
  pending.options.onChunk?.({ type: "text", text });
  world.tell("llm:chunk");
}

function answerTool(world: SimWorld, pending: PendingTool, faults: (name: string) => boolean): void {
  const kind = drawToolKind(world.choose, faults);
  world.take(pending);
  world.tell(`tool:${kind} ${pending.name} ${pending.toolCallId}`);
  const outcome = toolOutcomeOf(kind, world.choose);
  if (outcome === undefined) pending.reject(new Error("Simulated: the tool throws."));
  else pending.answer(outcome);
}

const said = ["Do it.", "And now?", "  \u2028 hm", "Stop the other thing and look at this", "𝒳"];

function peopleActions(world: SimWorld): readonly Action[] {
  const { choose } = world;
  const hosts = world.hosts.filter((host) => host.session !== undefined);
  if (hosts.length === 0) return [];
  const anyone = (): SimHost => oneOf(choose, hosts);
  const idle = world.pending.length === 0;
  const actions: Action[] = [
    {
      weight: idle ? 10 : 2,
      fault: "none",
      run: () => {
        const text = oneOf(choose, said);
        const { session } = anyone();
        world.tell("a user message");
        if (session !== undefined) world.offer(session.send(text));
      },
    },
    {
      weight: 1,
      fault: "cancel",
      run: () => {
        const { session } = anyone();
        world.tell("cancel");
        if (session !== undefined) world.offer(session.cancel("enough"));
      },
    },
    {
      weight: 2,
      fault: "double-answer",
      run: () => {
        const input = world.keeper.inputs.at(-1 - choose(Math.min(10, world.keeper.inputs.length)));
        const { session } = anyone();
        world.tell(`double ${input?.type ?? "nothing"}`);
        if (
          session !== undefined &&
          input !== undefined &&
          input.type !== "session-opened" &&
          input.type !== "re-act-cancelled"
        )
          world.offer(session.dispatch(input), input);
      },
    },
  ];
  for (const question of world.questions.slice(-4)) actions.push(...decisions(world, question, anyone));
  return actions;
}

function decisions(world: SimWorld, question: Question, anyone: () => SimHost): readonly Action[] {
  const decide = (asked: Question, what: string, fault: string, weight: number): Action => ({
    weight,
    fault,
    run: () => {
      const decision = drawDecision(world, asked, world.choose);
      const { session } = anyone();
      world.tell(what);
      if (session === undefined) return;
      world.decided.push({
        toolCallId: asked.toolCallId,
        digest: asked.digest,
        type: typeof decision === "string" ? "approved" : (Object.keys(decision)[0] ?? ""),
      });
      world.offer(session.decide(asked, decision, session.id));
    },
  });
  return [
    decide(question, `decide ${question.toolCallId}`, "none", 5),
    decide(
      { ...question, digest: "forged" },
      `forged decision on ${question.toolCallId}`,
      "forged-decision",
      1,
    ),
  ];
}

function drawDecision(world: SimWorld, { about, name }: Question, choose: Choose): Decision {
  if (about === "answer") return choose(4) === 0 ? { reject: "I do not know" } : { answer: "the red one" };
  if (about === "outcome")
    return oneOf<Decision>(choose, ["approve", { reject: "it failed" }, { answer: "it was done" }]);
  const schema = world.agent.tools[name]?.schema;
  const changed = schema === undefined ? {} : drawJson(JSON.parse(schema), choose);
  return oneOf<Decision>(choose, ["approve", "approve", { reject: "no" }, { approve: changed }]);
}

function hostActions(world: SimWorld): readonly Action[] {
  const { choose, time, owner } = world;
  const actions: Action[] = [
    {
      weight: time.waiting > 0 ? 2 : 0,
      fault: "none",
      run: () => {
        world.tell("time passes");
        time.fireNext();
      },
    },
    {
      weight: 1,
      fault: "clock-jump",
      run: () => {
        world.tell("the clock jumps");
        time.jump(oneOf(choose, [-3_600_000, -1, 5_000, 86_400_000]));
      },
    },
    {
      weight: world.hosts.length < 3 ? 1 : 0,
      fault: "second-host",
      run: async () => {
        const access = oneOf(choose, ["run", "post"] as const);
        world.tell(`another host opens to ${access}`);
        await world.open(access, false);
      },
    },
  ];
  if (owner === undefined)
    actions.push({
      weight: 40,
      fault: "none",
      run: async () => {
        world.tell("a host takes the session up");
        await world.open("run", true);
      },
    });
  else
    actions.push(
      {
        weight: 2,
        fault: "crash",
        run: () => {
          world.tell("crash");
          world.crash(owner);
        },
      },
      {
        weight: 1,
        fault: "takeover",
        run: async () => {
          world.tell("another host takes over from a live one");
          await world.open("run", true);
        },
      },
      {
        weight: 1,
        fault: "close",
        run: async () => {
          world.tell("the host closes the session");
          await world.close(owner);
        },
      },
      ...(owner.log.failsNext ? [] : writeFaults(world, owner)),
    );
  return actions;
}

const writeFaults = (world: SimWorld, owner: SimHost): readonly Action[] =>
  (["nothing-written", "written-untold", "torn"] as const).map((fault) => ({
    weight: 1,
    fault: `write:${fault}`,
    run: () => {
      world.tell(`the next write fails: ${fault}`);
      owner.log.failNext(fault);
    },
  }));
