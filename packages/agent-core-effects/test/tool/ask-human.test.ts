import { describe, expect, it } from "vitest";
import * as z from "zod";
import { askHuman, BuildError } from "../../src/index.ts";
import { runAlone } from "./run-alone.ts";

describe("a tool that a human answers", () => {
  it("says so in its definition, and asks for one question by default", () => {
    const { name, definition } = askHuman();
    expect(name).toBe("ask_human");
    expect(definition).toMatchObject({ asksHuman: true });
    expect(definition.answerSchema).toBeUndefined();
    expect(JSON.parse(definition.schema)).toMatchObject({ required: ["question"] });
  });

  it("checks what the model asks with, as any tool does", async () => {
    const tool = askHuman();
    expect(await tool.check('{"question":"Which size?"}')).toBeUndefined();
    expect(await tool.check("{}")).toContain("question");
  });

  it("gives a host that runs it in spite of that no answer to pass on", async () => {
    expect(await runAlone(askHuman(), { question: "Which size?" })).toMatchObject({ isSuccess: false });
  });

  it("keeps the schema of the answer as data, from any kind of schema", () => {
    const json = { type: "object", properties: { size: { type: "number" } }, required: ["size"] };
    const schemaOf = (answer: Parameters<typeof askHuman>[0]): unknown =>
      JSON.parse(askHuman(answer).definition.answerSchema ?? "null");
    expect(schemaOf({ answer: json })).toEqual(json);
    expect(schemaOf({ answer: z.object({ size: z.number() }) })).toMatchObject(json);
  });

  it("takes a name, a description and an input of its own, and refuses what no tool may have", () => {
    const input = z.object({ about: z.string() });
    const tool = askHuman({ name: "pick", description: "Lets the user pick.", input });
    expect(tool).toMatchObject({ name: "pick", definition: { description: "Lets the user pick." } });
    expect(() => askHuman({ name: "a name" })).toThrow(BuildError);
    expect(() => askHuman({ input: { type: "string" } })).toThrow("must be an object");
  });
});
