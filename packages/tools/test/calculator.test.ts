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

  it("marks what it rounds", async () => {
    expect(await calculated("10 / 3")).toBe("\u2248 3.33333333333333");
    expect(await calculated("sqrt(2)")).toMatch(/^\u2248 1\.414213562373/);
    expect(await calculated("2^1000")).toMatch(/^\u2248 1\.07150860718627e\+301$/);
  });
});

describe("errors say what and where", () => {
  it.each([
    ["2 +", "The expression ends too early. (at position 4)"],
    ["2 3", "There should not be a number here. (at position 3)"],
    ["(1", '")" is missing. (at position 3)'],
    ["foo(1)", "There is no function foo. (at position 1)"],
    ["1 + bar", '"bar" is no constant; there are pi, tau, e. (at position 5)'],
    ["min()", "min does not take 0 values. (at position 1)"],
    ["sqrt(1, 2)", "sqrt does not take 2 values. (at position 1)"],
    ["1,000 * 3", '"," separates values of a function; write 1000, not 1,000. (at position 2)'],
    ["1/0", "This divides by zero. (at position 2)"],
    ["5 % (1 - 1)", "This divides by zero. (at position 3)"],
    ["0^-1", "This divides by zero. (at position 2)"],
    ["sqrt(-1)", "This has no real value. (at position 1)"],
    ["(-8)^(1/3)", "This has no real value. (at position 5)"],
    ["ln(0)", "Only what is above zero has a logarithm. (at position 1)"],
    ["tan(pi/2)", "tan has no value there. (at position 1)"],
    ["9^9^9", "The result is too large. (at position 2)"],
    ["1e999", "This exponent is too large. (at position 1)"],
    ["10 % -3", '"%" before "-" can be read in two ways: use parentheses. (at position 4)'],
    ["2 $ 3", '"$" belongs to no expression. (at position 3)'],
    ["constructor", '"constructor" is no constant; there are pi, tau, e. (at position 1)'],
    ["toString(1)", "There is no function tostring. (at position 1)"],
    ["process.exit(1)", '"." belongs to no expression. (at position 8)'],
  ])("%s: %s", async (expression, problem) => {
    expect(await calculated(expression)).toBe(problem);
  });
});

describe("limits", () => {
  it("refuses an expression that is too long, before it reads it", async () => {
    const outcome = await runTool(calculator, { expression: "1+".repeat(300) });
    expect(outcome.isSuccess).toBe(false);
    expect(textOf(outcome)).toBe(
      "The expression is too long: 600 characters, at most 500 are read. (at position 501)",
    );
  });

  it("takes as many parentheses as fit", async () => {
    expect(await calculated(`${"(".repeat(249)}1${")".repeat(249)}`)).toBe("= 1");
    expect(await calculated("-".repeat(499) + "1")).toBe("= -1");
  });

  it.each([
    "9999999999^9999999999",
    "2^4000 * 2^4000 * 2^4000",
    "(((9^99)^99)^99)^99",
    "(1/3)^4000 + (1/7)^4000",
  ])("stays small in memory and time: %s", async (expression) => {
    const began = performance.now();
    await calculated(expression);
    expect(performance.now() - began).toBeLessThan(500);
  });

  it("is declared as what it is: safe to repeat, and nothing that anybody has to approve", () => {
    expect(calculator.definition).toMatchObject({ risk: "low", approval: "never", replay: "safe" });
  });
});
