import type { AgentState, AgentUsage, Spending } from "@moora/agent-core-state-machine";
import {
  addAgentUsage,
  budgetLeftAt,
  noAgentUsage,
  reservationOf,
  totalTokens,
} from "@moora/agent-core-state-machine/internal";
import type { Tool } from "../tool/define-tool.ts";
import type { ToolOutcome } from "../tool/tool-reply.ts";
import { validUsage } from "./valid-usage.ts";

/** The budget and the usage of the tools that one handler calls. */
export interface HandlerSpending {
  /**
   * Reserves what a call of a tool may spend. `settle` releases the unused part and returns the outcome. Without a budget
   * `budgetLeft` is undefined.
   */
  reserve(tool: Tool): {
    readonly budgetLeft: Spending | undefined;
    readonly settle: (outcome: ToolOutcome) => ToolOutcome;
  };
  /**
   * Returns what was used until now. Where calls have not ended, `isComplete` is false, and `report` is called once, when
   * the last of them has ended, with what was used since.
   */
  close(report: (late: AgentUsage) => void): { readonly usage: AgentUsage; readonly isComplete: boolean };
}

/** Creates the spending of a handler from the remaining budget, which all its calls share. */
export function handlerSpending(state: AgentState): HandlerSpending {
  const budget = budgetLeftAt(state);
  const reserved = new Set<Spending>();
  let used = noAgentUsage;
  let running = 0;
  let late = noAgentUsage;
  let reportLate: ((late: AgentUsage) => void) | undefined;

  const left = (most: number | undefined, spent: number, kind: "tokens" | "cost"): number | undefined => {
    if (most === undefined) return undefined;
    return Math.max(
      0,
      [...reserved].reduce((rest, held) => rest - (held[kind] ?? 0), most - spent),
    );
  };

  const remaining = (): Spending | undefined => {
    if (budget === undefined) return undefined;
    const tokens = left(budget.tokens, totalTokens(used), "tokens");
    const cost = left(budget.cost, used.cost ?? 0, "cost");
    return { ...(tokens === undefined ? {} : { tokens }), ...(cost === undefined ? {} : { cost }) };
  };

  const report = (): void => {
    reportLate?.(late);
    reportLate = undefined;
  };

  return {
    reserve({ definition: { spends } }) {
      const most = remaining();
      const budgetLeft = most === undefined || spends === undefined ? most : reservationOf(spends, most);
      if (spends !== undefined) running += 1;
      if (budgetLeft !== undefined && spends !== undefined) reserved.add(budgetLeft);
      const settle = (outcome: ToolOutcome): ToolOutcome => {
        if (budgetLeft !== undefined) reserved.delete(budgetLeft);
        const usage = validUsage(outcome.usage) ?? {};
        used = addAgentUsage(used, usage);
        late = addAgentUsage(late, usage);
        if (spends !== undefined) running -= 1;
        if (running === 0) report();
        return outcome;
      };
      return { budgetLeft, settle };
    },
    close(onEnd) {
      late = noAgentUsage;
      const isComplete = running === 0;
      if (!isComplete) reportLate = onEnd;
      return { usage: used, isComplete };
    },
  };
}
