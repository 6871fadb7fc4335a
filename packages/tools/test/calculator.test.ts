import { describe, expect, it } from "vitest";
import { calculatorTool } from "../src/calculator.ts";
import { runTool, textOf } from "./run-tool.ts";

const calculator = calculatorTool();
const calculated = async (expression: string): Promise<string> => {
  const outcome = await runTool(calculator, { expression });
  return outcome.isSuccess ? outcome.content.replace(`${expression.trim()} `, "") : outcome.error;
};

describe("values", () => {
  it.each([
    ["2 + 3 * 4", "= 14"],
    ["(2 + 3) * 4", "= 20"],
    ["2 - 3 - 4", "= -5"],
    ["100 / 10 / 2", "= 5"],
    ["-2^2", "= -4"],
    ["(-2)^2", "= 4"],
    ["2^3^2", "= 512"],
    ["2^-2", "= 0.25"],
    ["--3", "= 3"],
    ["2 * -3", "= -6"],
    ["2**10", "= 1024"],
    ["3 \u00d7 4 \u00f7 2 \u2212 1", "= 5"],
    ["10 % 3", "= 1"],
    ["-7 % 3", "= -1"],
    ["15%", "= 0.15"],
    ["15% * 80", "= 12"],
    ["200 * 10%", "= 20"],
    ["1.5e3 + .5", "= 1500.5"],
    ["sqrt(16/25)", "= 0.8"],
    ["abs(-3.5)", "= 3.5"],
    ["min(3, 1, 2) + max(3, 1, 2)", "= 4"],
    ["round(2.5) + round(-2.5)", "= 0"],
    ["round(2.345, 2)", "= 2.35"],
    ["floor(-1.5)", "= -2"],
    ["ceil(-1.5)", "= -1"],
    ["log(1000)", "\u2248 3"],
    ["ln(exp(2))", "\u2248 2"],
    ["sin(pi / 2) + cos(0) + tan(0)", "\u2248 2"],
    ["sin(pi)", "\u2248 0"],
    ["2 * pi - tau", "\u2248 0"],
    ["e", "\u2248 2.71828182845905"],
  ])("%s %s", async (expression, value) => {
    expect(await calculated(expression)).toBe(value);
  });
});

describe("exactness", () => {
  it.each([
    ["0.1 + 0.2", "= 0.3"],
    ["1/3 + 1/3 + 1/3", "= 1"],
    ["123456789 * 987654321", "= 121932631112635269"],
    ["2^200", "= 1606938044258990275541962092341162602522202993782792835301376"],
    ["(1/3) * 3", "= 1"],
    ["1e-7 * 3", "= 0.0000003"],
  ])("%s %s", async (expression, value) => {
    expect(await calculated(expression)).toBe(value);
  });

  it("marks rounded results", async () => {
    expect(await calculated("10 / 3")).toBe("\u2248 3.33333333333333");
    expect(await calculated("sqrt(2)")).toMatch(/^\u2248 1\.414213562373/);
    expect(await calculated("2^1000")).toMatch(/^\u2248 1\.07150860718627e\+301$/);
  });
});

describe("errors name the problem and its position", () => {
  it.each([
    ["2 +", "Unexpected end of the expression. (at position 4)"],
    ["2 3", "Unexpected number. (at position 3)"],
    ["(1", 'Missing ")". (at position 3)'],
    ["foo(1)", "Unknown function foo. (at position 1)"],
    ["1 + bar", 'Unknown constant "bar". Available: pi, tau, e. (at position 5)'],
    ["min()", "min does not accept 0 arguments. (at position 1)"],
    ["sqrt(1, 2)", "sqrt does not accept 2 arguments. (at position 1)"],
    ["1,000 * 3", '"," separates arguments of a function; write 1000, not 1,000. (at position 2)'],
    ["1/0", "Division by zero. (at position 2)"],
    ["5 % (1 - 1)", "Division by zero. (at position 3)"],
    ["0^-1", "Division by zero. (at position 2)"],
    ["sqrt(-1)", "The result is not a real number. (at position 1)"],
    ["(-8)^(1/3)", "The result is not a real number. (at position 5)"],
    ["ln(0)", "The argument of a logarithm must be greater than 0. (at position 1)"],
    ["tan(pi/2)", "tan is undefined for this argument. (at position 1)"],
    ["9^9^9", "The result is too large. (at position 2)"],
    ["1e999", "The exponent is too large. (at position 1)"],
    ["10 % -3", '"%" before "-" is ambiguous: use parentheses. (at position 4)'],
    ["2 $ 3", 'Invalid character "$". (at position 3)'],
    ["constructor", 'Unknown constant "constructor". Available: pi, tau, e. (at position 1)'],
    ["toString(1)", "Unknown function tostring. (at position 1)"],
    ["process.exit(1)", 'Invalid character ".". (at position 8)'],
  ])("%s: %s", async (expression, problem) => {
    expect(await calculated(expression)).toBe(problem);
  });
});

describe("limits", () => {
  it("rejects an expression that is too long before it parses it", async () => {
    const outcome = await runTool(calculator, { expression: "1+".repeat(300) });
    expect(outcome.isSuccess).toBe(false);
    expect(textOf(outcome)).toBe(
      "The expression is too long: 600 characters; the maximum is 500. (at position 501)",
    );
  });

  it("parses the deepest nesting that fits", async () => {
    expect(await calculated(`${"(".repeat(249)}1${")".repeat(249)}`)).toBe("= 1");
    expect(await calculated("-".repeat(499) + "1")).toBe("= -1");
  });

  it.each([
    "9999999999^9999999999",
    "2^4000 * 2^4000 * 2^4000",
    "(((9^99)^99)^99)^99",
    "(1/3)^4000 + (1/7)^4000",
  ])("keeps the result of %s short", async (expression) => {
    expect((await calculated(expression)).length).toBeLessThan(300);
  });

  it("is declared as low risk, safe to repeat and without approval", () => {
    expect(calculator.definition).toMatchObject({ risk: "low", approval: "never", replay: "safe" });
  });
});
