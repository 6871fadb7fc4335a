import type { AgentInput, InputOf, Json } from "@moora/agent-core-state-machine";
import { dataAt } from "../data/data-at.ts";
import { callIsOver, changeOfAll, type CommitRecipes } from "../data/data-updates.ts";
import { DataRefused } from "../data/data-refused.ts";
import type { AnyData } from "../data/define-data.ts";
import type { Tool } from "../tool/define-tool.ts";
import type { EffectHost } from "./host.ts";

const noEarlyCommits =
  "update.now cannot commit here: this run has no commits in the middle of a call. Use update.";

/** Who changes the data before the work has ended: a call of a tool, or a handler. */
export type DataAuthor = Pick<InputOf<"data-changed">, "by" | "toolCallId" | "key">;

/** Commits recipes of a call or handler as one input, computed at its turn. */
export function commitOf(host: EffectHost, definition: AnyData, author: DataAuthor): CommitRecipes {
  return async (recipes) => {
    const { dispatchAtOnce, clock } = host;
    if (dispatchAtOnce === undefined) throw new DataRefused(noEarlyCommits);
    let bound: Bound | undefined;
    const hasApplied = await dispatchAtOnce((state): AgentInput => {
      const input = { type: "data-changed", ...author, timestamp: clock.now() } as const;
      try {
        const { data, patches } = changeOfAll(definition, dataAt(state, definition), recipes);
        bound = { data, isEmpty: patches.length === 0 };
        return { ...input, patches };
      } catch (error) {
        bound = { error };
        // Without patches it does not apply.
        return { ...input, patches: [] };
      }
    });
    return dataAfter(bound, hasApplied);
  };
}

type Bound = { readonly data: Json; readonly isEmpty: boolean } | { readonly error: unknown };

/** The data after a commit. Throws what a recipe threw; a change that did not apply came after the end of its work. */
function dataAfter(bound: Bound | undefined, hasApplied: boolean): Json {
  if (bound !== undefined && "error" in bound) throw bound.error;
  if (bound !== undefined && (hasApplied || bound.isEmpty)) return bound.data;
  throw new DataRefused(callIsOver);
}

/** Refuses commits of a tool that must not run twice; undefined for one that may. */
export function refusalOfTool({ name, definition: { replay = "once" } }: Tool): CommitRecipes | undefined {
  if (replay !== "once") return undefined;
  return () =>
    Promise.reject(
      new DataRefused(
        `update.now of the tool ${name} needs replay: "safe" or "keyed", got "once". Use update, which commits with the result.`,
      ),
    );
}
