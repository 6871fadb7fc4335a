import type { Candidate } from "./action.ts";
import { drawModelAnswer, drawToolAnswer } from "./draw-answer.ts";
import type { Draws } from "./draws.ts";
import type { Pending } from "./pending.ts";
import type { SimWorld } from "./sim-world.ts";

/** The position of a pending item among those of its type. */
export function positionOf(pending: Pending, { pending: all }: SimWorld): { readonly nth?: number } {
  const nth = all.filter(({ type }) => type === pending.type).indexOf(pending);
  return nth > 0 ? { nth } : {};
}

/** How a pending item can end. An append can end with its process. */
export function endsOf(pending: Pending, world: SimWorld, draws: Draws): readonly Candidate[] {
  const nth = positionOf(pending, world);
  switch (pending.type) {
    case "llm": {
      const answer = (): ReturnType<typeof drawModelAnswer> =>
        drawModelAnswer(pending.request, world.agent.tools, draws);
      return [{ weight: 12, draw: () => ({ type: "model-answers", answer: answer(), ...nth }) }];
    }
    case "tool": {
      const weight = pending.executes && pending.returned === undefined ? 0 : 12;
      const draw: Candidate["draw"] = async () => ({
        type: "tool-answers",
        answer: await drawToolAnswer(pending, draws),
        ...nth,
      });
      return [{ weight, draw }];
    }
    case "probe": {
      const found = (): "unknown" | "ran" => (draws.choose(2) === 0 ? "unknown" : "ran");
      return [{ weight: 12, draw: () => ({ type: "probe-answers", found: found(), ...nth }) }];
    }
    case "sub-agent":
      return [];
    case "append": {
      const end = { type: "append-ends", ...nth } as const;
      const crash: Candidate = { weight: 1, draw: () => ({ ...end, crashes: true }) };
      return [{ weight: 30, draw: () => end }, ...(draws.faults("crash:appended") ? [crash] : [])];
    }
  }
}
