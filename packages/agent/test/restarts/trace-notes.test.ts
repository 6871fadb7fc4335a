import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  forkSession,
  inputDescriber,
  readSession,
  rerunSession,
  runTask,
  stateAt,
  verifySession,
  type Agent,
  type StateHandler,
  type TraceNote,
} from "../../src/index.ts";
import { Restarts } from "./restarts.ts";
import { graphOf } from "@moora/testbed/graph-of";

const model = (): MockLlmCaller => new MockLlmCaller([answers("About a dozen."), answers("It is 12.")]);

/** An agent whose answers this handler checks: the first one is vague. */
const checkedAgent = (handle: StateHandler, llm: MockLlmCaller = model()): Agent =>
  defineAgent({
    llm,
    config: {
      graph: graphOf({ Planning: { LlmFinalAnswer: "Check" }, Check: { Good: "Done", Vague: "Planning" } }),
    },
    states: { Check: handle },
  });

const vague: TraceNote = { text: "No number.", data: { rule: "digits", found: [] } };
const good: TraceNote = { text: "A number." };

const handle: StateHandler = (state) =>
  /\d/.test(state.messages.at(-1)?.content ?? "")
    ? { event: "Good", trace: good }
    : { event: "Vague", note: "Give the number itself.", trace: vague };

const notesOf = (moves: readonly { readonly event: string; readonly note?: TraceNote }[]) =>
  moves.flatMap(({ event, note }) => (note === undefined ? [] : [[event, note]]));

const both = [
  ["Vague", vague],
  ["Good", good],
];

describe("a note that a handler adds to the trace", () => {
  it("is at the move of its event, in the order of the moves", async () => {
    const { trace, text } = await runTask(checkedAgent(handle), "How many?");
    expect(text).toBe("It is 12.");
    expect(notesOf(trace.entries)).toEqual(both);
    expect(trace.toText()).toContain('No number. {"rule":"digits","found":[]}');
  });

  it("is not shown to the model, and is not in the state", async () => {
    const llm = model();
    const { state } = await runTask(checkedAgent(handle, llm), "How many?");
    expect(JSON.stringify(llm.requests[1])).toContain("Give the number itself.");
    expect(JSON.stringify([llm.requests, state])).not.toContain("No number.");
  });

  it("is recorded: every process, fork and rerun that reads the log has it", async () => {
    const world = new Restarts();
    const first = await world.open(checkedAgent(handle));
    await first.ask("How many?");
    expect(notesOf(first.trace().entries)).toEqual(both);
    await first.close();
    const { seq, moves } = await stateAt(world.log, "ada");
    expect(notesOf(moves)).toEqual(both);
    expect(await verifySession(world.log, "ada")).toMatchObject({ ok: true });
    await forkSession(world.log, "ada", seq, { as: "bob", open: "rerun" });
    expect(notesOf((await stateAt(world.log, "bob")).moves)).toEqual(both);
    const rerun = await rerunSession(checkedAgent(handle), world.log, "ada", { from: 0 });
    expect(notesOf(rerun.recorded.trace.entries)).toEqual(both);
    expect(notesOf(rerun.trace.entries)).toEqual(both);
  });

  it("is a part of the description of its record", async () => {
    const world = new Restarts();
    const session = await world.open(checkedAgent(handle));
    await session.ask("How many?");
    await session.close();
    const { header, inputs } = await readSession(world.log, "ada");
    const describeInput = inputDescriber(header);
    expect(inputs.map(describeInput).filter((line) => line.startsWith("state handled"))).toEqual([
      'state handled, Vague: No number. {"rule":"digits","found":[]}; model call started, plan/1/2/1',
      "state handled, Good: A number.",
    ]);
  });

  it("fails its handler where no log can contain it: the reason has the path, and nothing is noted", async () => {
    const run = runTask(
      checkedAgent(() => ({ event: "Good", trace: { text: "x".repeat(1_001) } })),
      "How many?",
    );
    const error: unknown = await run.then(undefined, (reason: unknown) => reason);
    expect(error).toMatchObject({
      kind: "InvalidTransition",
      message: "There is no row for HandlerFailed in Check. trace.text: Longer than 1000 characters.",
      trace: { length: 3 },
    });
  });
});
