import type { Spending } from "@moora/agent-core-state-machine";
import { isSpent } from "@moora/agent-core-state-machine/internal";
import type { Tool } from "../tool/define-tool.ts";
import type { ToolOutcome } from "../tool/tool-reply.ts";

/** The outcome of a call of a tool with `spends` for which no budget is left, so that it does not run; undefined for any other call. */
export const unfundedOutcome = ({ definition }: Tool, budgetLeft: Spending = {}): ToolOutcome | undefined =>
  definition.spends !== undefined && isSpent(budgetLeft)
    ? {
        isSuccess: false,
        error:
          "There is no budget left for it: the budget is spent, or set aside for calls that have not reported what they used.",
        code: "not-run",
      }
    : undefined;
