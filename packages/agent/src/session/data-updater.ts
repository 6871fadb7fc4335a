import { shownValue } from "@moora/agent-core-effects/internal";
import { DataRefused, type AnyData, type Recipe } from "@moora/agent-core-effects";
import { dataOf } from "@moora/agent-core-state-machine/internal";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import type { Agent } from "../define-agent.ts";
import type { SessionBase } from "./create-session.ts";
import type { OutsideInputs } from "./outside-inputs.ts";
import { checkOptionalId, checkText } from "./session-arguments.ts";
import { InputRefused, type Session } from "./session.ts";

/** The method of a session that changes its application data. */
export function dataUpdater(
  { parts: { data: definition } }: Pick<Agent<unknown>, "parts">,
  { clock }: Pick<SessionBase, "clock">,
  outside: OutsideInputs,
): Session["update"] {
  return async (recipe, by = "application", requestId) => {
    checkRecipe(recipe);
    checkText("by", by);
    checkOptionalId("requestId", requestId);
    if (definition === undefined) {
      const message = "The agent of this session has no data. Give defineAgent({ data }).";
      throw new InputRefused({ code: "no-data", path: "", message });
    }
    const timestamp = clock.now();
    return await outside.dispatchLate((state): AgentInput => {
      const { patches } = changeAt(state, definition, recipe);
      const request = requestId === undefined ? {} : { requestId };
      return { type: "data-changed", patches, by: by.toWellFormed(), ...request, timestamp };
    });
  };
}

/** The change of a recipe. Throws `DataRefused` for data of another version: its schema is not known here. */
export function changeAt(
  state: AgentState,
  definition: AnyData,
  recipe: Recipe<unknown>,
): ReturnType<AnyData["change"]> {
  if (state.dataStatus === null)
    throw new DataRefused("the session has no data yet. Open the session once to run it.");
  const { version } = state.dataStatus;
  if (version !== definition.version) {
    throw new DataRefused(
      `it has version ${version}, and this agent has version ${definition.version}. Open the session once to run it.`,
    );
  }
  return definition.change(dataOf(state), recipe);
}

function checkRecipe(recipe: unknown): void {
  if (typeof recipe === "function") return;
  const message = `must be a function that changes a draft of the data, got ${shownValue(recipe)}.`;
  throw new InputRefused({ code: "wrong-shape", path: "recipe", message });
}
