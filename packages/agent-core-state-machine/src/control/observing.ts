import type { EnterState } from "./enter.ts";

export const enterObserving: EnterState<"Observing"> = (edit) => {
  edit.setContext({ control: { type: "Observing" } });
  return { event: reflectsBySteps(edit) || reflectsByTokens(edit) ? "NeedsReflection" : "Continue" };
};

type Read = Parameters<EnterState<"Observing">>[0];

export const reflectsBySteps = ({ config, reActContext }: Read): boolean =>
  config.reflection.everyNSteps > 0 && reActContext.step % config.reflection.everyNSteps === 0;

const reflectsByTokens = ({ config, reActContext }: Read): boolean =>
  config.reflection.aboveInputTokens > 0 && reActContext.inputTokens > config.reflection.aboveInputTokens;
