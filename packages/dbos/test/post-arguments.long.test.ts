import { BuildError, defineAgent, InputRefused, userMessage } from "@moora/agent";
import { dbosHost, type DbosPostOptions } from "@moora/dbos";
import { memoryLog } from "@moora/event-log";
import { MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { message, Scene } from "./support.ts";

const log = memoryLog();
const host = dbosHost(defineAgent({ name: "helper", llm: new MockLlmCaller([]) }), { log });

/** Calls without types may pass anything. */
const anything = (value: unknown): never => value as never;

const post = (input: unknown, options: unknown = {}, id: unknown = "ada"): Promise<boolean> =>
  host.post(anything(id), anything(input), anything(options));

describe("the arguments of a post to DBOS", () => {
  it.each([null, undefined, "text", {}, 7])("refuse the input %j", async (input) => {
    await expect(post(input)).rejects.toThrow(InputRefused);
  });

  const keyRule = "key must be a well-formed string of 1 to 200 characters without NUL";
  const options: readonly (readonly [string, unknown, string])[] = [
    ["an unknown option", { kee: "one" }, 'Unknown option "kee"'],
    ["a key with NUL", { key: "a\0b" }, keyRule],
    ["a key that is too long", { key: "k".repeat(201) }, keyRule],
    ["an empty key", { key: "" }, keyRule],
    ["a key that is not a text", { key: 7 }, keyRule],
    ["a user that is not a text", { user: 7 }, "user must be a string"],
  ];

  it.each(options)("refuse %s", async (_, given, problem) => {
    const refused = post(userMessage("Hello."), given);
    await expect(refused).rejects.toThrow(BuildError);
    await expect(refused).rejects.toThrow(problem);
  });

  it("refuse an id that is not a text, in every method", async () => {
    await expect(post(userMessage("Hello."), {}, 7)).rejects.toThrow("id must be a string, got 7.");
    await expect(host.stateOf(anything(undefined))).rejects.toThrow(BuildError);
    await expect(host.waitFor(anything(null), () => true)).rejects.toThrow(BuildError);
    await expect(host.waitFor("ada", anything("Done"))).rejects.toThrow(
      'isReached must be a function of the state, got "Done".',
    );
    await expect(host.stateOf("")).rejects.toMatchObject({ code: "InvalidId" });
  });

  it("are refused before DBOS is launched", async () => {
    const early = post(userMessage("Hello."));
    await expect(early).rejects.toThrow(BuildError);
    await expect(early).rejects.toThrow("Call DBOS.launch() before post.");
  });

  it("create no session when they are refused", async () => {
    await post(userMessage("Hello.")).catch(() => undefined);
    await post(null).catch(() => undefined);
    await post(userMessage("Hello."), { key: "\0" }).catch(() => undefined);
    expect(await log.list()).toEqual([]);
  });

  it("take an id with NUL and a key with all other characters", async () => {
    await using scene = await Scene.start();
    const launched = await scene.launch();
    const postOptions: DbosPostOptions = { key: "\u0001/😀" };
    expect(await launched.post("a\0b", message("one two three"), postOptions.key)).toBe(true);
    await scene.until("a\0b", ({ reActContext: { control } }) => control.type === "Done");
  });
});
