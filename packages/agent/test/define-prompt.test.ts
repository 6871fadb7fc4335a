import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  BuildError,
  defineAgent,
  definePrompt,
  openSession,
  readHeader,
  type PromptVariable,
} from "../src/index.ts";

const support = definePrompt(
  "You help {{customer}} in {{ language }}. {{customer}} may ask {{count}} times.",
);

/** Calls without types. */
const untyped = (template: unknown): ((...values: readonly unknown[]) => unknown) =>
  Reflect.apply(definePrompt, undefined, [template]);

describe("a prompt with variables", () => {
  it("has a value in place of each variable", () => {
    expect(support({ customer: "Ada", language: "French", count: 3 })).toBe(
      "You help Ada in French. Ada may ask 3 times.",
    );
    expect(definePrompt("You answer { in JSON }.")()).toBe("You answer { in JSON }.");
  });

  it("has types that name its variables", () => {
    expectTypeOf<PromptVariable<"{{a}} and {{ b }}">>().toEqualTypeOf<"a" | "b">();
    expectTypeOf(support).parameter(0).toExtend<{ readonly customer: unknown; readonly language: unknown }>();
    expectTypeOf(definePrompt("Hello.")).parameters.toEqualTypeOf<[]>();
  });

  it("renders once: a value that looks like a variable, or like a pattern, stays as it is", () => {
    const echo = definePrompt("<{{text}}|{{other}}>");
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom("{{other}}", "$&", "$1", "{{text}}")), (text) => {
        expect(echo({ text, other: "x" })).toBe(`<${text}|x>`);
      }),
    );
  });

  it("is recorded as its text", async () => {
    const log = memoryLog();
    const llm = new MockLlmCaller([answers("Bonjour.")]);
    const systemPrompt = support({ customer: "Ada", language: "French", count: 1 });
    const session = await openSession(defineAgent({ llm, systemPrompt }), { log, id: "ada" });
    await session.ask("Hello.");
    await session.close();
    expect((await readHeader(log, "ada")).config.systemPrompt).toBe(systemPrompt);
    expect(llm.requests[0]?.system).toContain("You help Ada in French.");
  });

  it.each<[string, () => unknown, string]>([
    [
      "a template that is not a string",
      () => untyped(7),
      "The template of a prompt must be a string, got 7.",
    ],
    [
      "a variable with a space",
      () => untyped("Hello {{first name}}."),
      'Invalid variable {{first name}} in a prompt. Use letters, digits and "_", such as {{customer}}.',
    ],
    ["a missing value", () => untyped("{{a}}")({}), 'The variable "a" of the prompt is missing.'],
    ["no values", () => untyped("{{a}}")(), 'The variable "a" of the prompt is missing.'],
    [
      "values that are not an object",
      () => untyped("{{a}}")("x"),
      'The values of a prompt must be an object, got "x".',
    ],
    [
      "an unknown variable",
      () => untyped("{{customer}}")({ customer: "Ada", custmer: "Bob" }),
      'The prompt has no variable "custmer". Did you mean "customer"?',
    ],
    [
      "a value that is not a text",
      () => untyped("{{a}}")({ a: Number.NaN }),
      'The variable "a" of the prompt must be a string, a finite number or a boolean, got NaN.',
    ],
  ])("%s is refused", (_, define, message) => {
    expect(define).toThrow(BuildError);
    expect(define).toThrow(message);
  });
});
