import { isPlanned } from "../agent-config.ts";
import { shortenContext } from "./context-plan.ts";
import type { EnterState } from "./enter.ts";

export const enterObserving: EnterState<"Observing"> = (edit) => {
  edit.setContext({ control: { type: "Observing" } });
  const isDue =
    reflectsBySteps(edit) || (isPlanned(edit.config) ? shortenContext(edit) : reflectsByTokens(edit));
  return { event: isDue ? "NeedsReflection" : "Continue" };
};

type Read = Parameters<EnterState<"Observing">>[0];

export const reflectsBySteps = ({ config, reActContext }: Read): boolean =>
  config.reflection.everyNSteps > 0 && reActContext.step % config.reflection.everyNSteps === 0;

/** The rule of configurations without `context`: those of earlier releases. */
const reflectsByTokens = ({ config, reActContext }: Read): boolean =>
  config.reflection.aboveInputTokens > 0 && reActContext.inputTokens > config.reflection.aboveInputTokens;
