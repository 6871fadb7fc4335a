import { defineTool, toolReply, type Tool } from "@moora/agent-core-effects";
import { amountToText } from "./calculator/amount.ts";
import { evaluate, maxExpressionLength } from "./calculator/evaluate.ts";
import { Refused } from "./refused.ts";
import { textAt } from "./tool-input.ts";

/**
 * Creates `calculator`: arithmetic, exact where the result is a fraction. Low risk, `replay: "safe"`. The expression is
 * parsed, never executed as code.
 */
export const calculatorTool = (): Tool =>
  defineTool({
    name: "calculator",
    description:
      "Calculates the value of an arithmetic expression, such as (2 + 3)^2 / 7. Supports + - * / ^, " +
      "% (10 % 3 is the remainder, 15% is 0.15), parentheses, sqrt, abs, min, max, round(value, digits), " +
      "floor, ceil, log (base 10), ln, exp, sin, cos, tan (radians), pi, tau, e.",
    input: {
      type: "object",
      properties: {
        expression: {
          type: "string",
          minLength: 1,
          description: `The expression to calculate, of at most ${maxExpressionLength} characters. No units and no thousands separators.`,
        },
      },
      required: ["expression"],
      additionalProperties: false,
    },
    risk: "low",
    approval: "never",
    replay: "safe",
    execute(input) {
      const expression = textAt(input, "expression").trim();
      try {
        const { text, isRounded } = amountToText(evaluate(expression));
        return `${expression} ${isRounded ? "\u2248" : "="} ${text}`;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return toolReply({ content: error.message, isError: true });
      }
    },
  });
