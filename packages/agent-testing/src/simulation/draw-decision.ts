import type { Decision, Question } from "@moora/agent";
import { oneOf } from "./choices.ts";
import type { Draws } from "./draws.ts";
import type { SimWorld } from "./sim-world.ts";

/** Draws a decision on a question, also one that does not fit it. */
export function drawDecision(world: SimWorld, question: Question | undefined, draws: Draws): Decision {
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
