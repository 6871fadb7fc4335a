import { describe, expect, it } from "vitest";
import { defineTool, type StandardResult, type StandardSchema } from "../../src/index.ts";
import { runAlone } from "./run-alone.ts";

const schema = { type: "object" } as const;

/** A schema by hand, of which nothing is sure but its interface. */
const says = (validate: (value: unknown) => StandardResult<unknown>): StandardSchema => ({
  "~standard": { version: 1, vendor: "own", validate },
});

const toolOf = (validate: (value: unknown) => StandardResult<unknown>) =>
  defineTool({
    name: "odd",
    description: "Takes what fits.",
    input: says(validate),
    schema,
    execute: () => expect.unreachable(),
  });

const errorOf = async (
  validate: (value: unknown) => StandardResult<unknown>,
  value: Readonly<Record<string, unknown>>,
): Promise<string> => {
  const outcome = await runAlone(toolOf(validate), value);
  return outcome.isSuccess ? "" : outcome.error;
};

describe("a schema that refuses without saying why", () => {
  it("is reported as a misfit", async () => {
    expect(await errorOf(() => ({ issues: [] }), {})).toBe("It does not fit the schema.");
  });
});

describe("a schema that shows the beginning of a value in words of its own (E11)", () => {
  it("says no more than that the value does not fit", async () => {
    const message = "Expected a code, got hunter2-s...";
    const issues = [{ message, path: ["code"] }];
    expect(await errorOf(() => ({ issues }), { code: "hunter2-secret" })).toBe(
      "code: This value does not fit.",
    );
  });

  it("hides short values, truths and nothing where they are quoted only", async () => {
    const issues = [{ message: 'Expected "ab" or "cd" to be true, not null', path: [] }];
    const shown = await errorOf(() => ({ issues }), { code: "ab", is: true, none: null, blank: " " });
    expect(shown).toBe('Expected (hidden) or "cd" to be true, not null');
  });
});

describe("a JSON Schema whose only complaint is about what stands within", () => {
  it("is reported all the same", async () => {
    const tool = defineTool({
      name: "never",
      description: "Takes nothing.",
      input: { type: "object", properties: { a: false } },
      execute: () => expect.unreachable(),
    });
    const outcome = await runAlone(tool, { a: 1 });
    expect(outcome).toMatchObject({ isSuccess: false, error: expect.stringContaining("a") });
  });

  it("names a field too many once, in plain words", async () => {
    const tool = defineTool({
      name: "plan",
      description: "Plans.",
      input: { type: "object", properties: { task: { type: "string" } }, additionalProperties: false },
      execute: () => expect.unreachable(),
    });
    expect(await runAlone(tool, { task: "x", foo: 1 })).toMatchObject({
      error: expect.stringContaining("foo: The schema has no such field. Leave it out."),
    });
    expect(await runAlone(tool, { task: "x", foo: 1 })).not.toMatchObject({
      error: expect.stringMatching(/boolean schema|additional properties/),
    });
  });
});

describe("a tool that throws what JSON says nothing of", () => {
  it("fails without a message", async () => {
    const tool = defineTool({
      name: "mute",
      description: "Throws.",
      input: schema,
      execute: () => {
        // A host may throw anything.
        // oxlint-disable-next-line typescript/only-throw-error
        throw { toJSON: () => undefined };
      },
    });
    expect(await runAlone(tool, {})).toMatchObject({ error: "It failed without a message." });
  });
});
