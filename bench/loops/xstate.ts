/** Loops as machines of XState: one with a promise for all calls of a turn, one with an actor for each call. */
import {
  type ImportPeer,
  addOne,
  answerText,
  callsAt,
  scriptTurns,
  type CallCounter,
  type Implementation,
  type Script,
} from "./script.ts";

/** The parts of the package that the loops use. It is not installed in this workspace. */
interface XState {
  readonly setup: (parts: object) => { createMachine(config: object): object };
  readonly assign: (update: object) => object;
  readonly stopChild: (id: (given: { readonly event: { readonly actorId: string } }) => string) => object;
  readonly fromPromise: (work: (given: { readonly input: never }) => Promise<unknown>) => object;
  readonly createActor: (machine: object) => { start(): void };
  readonly toPromise: (actor: object) => Promise<unknown>;
}

interface Turn {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly input: string }[];
}

interface Result {
  readonly id: string;
  readonly content: string;
}

type Message =
  | { readonly role: "user"; readonly content: string }
  | { readonly role: "assistant"; readonly turn: Turn }
  | { readonly role: "tool"; readonly results: readonly Result[] };

interface Context {
  readonly messages: readonly Message[];
  readonly results: readonly Result[];
}

interface Given<Output> {
  readonly context: Context;
  readonly event: { readonly output: Output };
}

const lastTurn = ({ messages }: Context): Turn => {
  const last = messages.at(-1);
  if (last?.role !== "assistant") throw new Error("The model has not answered.");
  return last.turn;
};

/** What the loops do outside of XState. */
function workOf(script: Script, counter: CallCounter) {
  const next = scriptTurns(script);
  return {
    async callModel({ input }: { readonly input: readonly Message[] }): Promise<Turn> {
      counter.models += 1;
      counter.messages += input.length;
      const turn = next();
      return turn === undefined
        ? { text: answerText, calls: [] }
        : { text: "", calls: callsAt(turn, script) };
    },
    async callTool({ input }: { readonly input: Turn["calls"][number] }): Promise<Result> {
      const { a } = JSON.parse(input.input);
      return { id: input.id, content: String(addOne(counter, a)) };
    },
  };
}

/** The planning state: calls the model; ends without tool calls. */
const planning = ({ assign }: XState): object => {
  const keepTurn = assign({
    messages: ({ context, event }: Given<Turn>) => [
      ...context.messages,
      { role: "assistant", turn: event.output },
    ],
  });
  return {
    invoke: {
      src: "callModel",
      input: ({ context }: { readonly context: Context }) => context.messages,
      onDone: [
        {
          guard: ({ event }: Given<Turn>) => event.output.calls.length === 0,
          target: "done",
          actions: keepTurn,
        },
        { target: "acting", actions: keepTurn },
      ],
    },
  };
};

const start = { messages: [{ role: "user", content: "Go." }], results: [] };

/** All calls of a turn in one invoked promise. */
function promiseMachine(xstate: XState, script: Script, counter: CallCounter): object {
  const { callModel, callTool } = workOf(script, counter);
  const callTools = ({ input }: { readonly input: Turn }): Promise<readonly Result[]> =>
    Promise.all(input.calls.map((call) => callTool({ input: call })));
  return xstate
    .setup({
      actors: { callModel: xstate.fromPromise(callModel), callTools: xstate.fromPromise(callTools) },
    })
    .createMachine({
      context: start,
      initial: "planning",
      states: {
        planning: planning(xstate),
        acting: {
          invoke: {
            src: "callTools",
            input: ({ context }: { readonly context: Context }) => lastTurn(context),
            onDone: {
              target: "planning",
              actions: xstate.assign({
                messages: ({ context, event }: Given<readonly Result[]>) => [
                  ...context.messages,
                  { role: "tool", results: event.output },
                ],
              }),
            },
          },
        },
        done: { type: "final" },
      },
    });
}

type Spawn = (source: string, options: { readonly id: string; readonly input: unknown }) => unknown;

/** An actor for each call, as for work whose number is not known before. */
function actorMachine(xstate: XState, script: Script, counter: CallCounter): object {
  const { callModel, callTool } = workOf(script, counter);
  const stopActor = xstate.stopChild(({ event }) => event.actorId);
  const isLast = ({ context }: Given<Result>): boolean =>
    context.results.length + 1 === lastTurn(context).calls.length;
  return xstate
    .setup({ actors: { callModel: xstate.fromPromise(callModel), callTool: xstate.fromPromise(callTool) } })
    .createMachine({
      context: start,
      initial: "planning",
      states: {
        planning: planning(xstate),
        acting: {
          entry: xstate.assign(({ context, spawn }: { readonly context: Context; readonly spawn: Spawn }) => {
            for (const call of lastTurn(context).calls) spawn("callTool", { id: call.id, input: call });
            return { results: [] };
          }),
          on: {
            "xstate.done.actor.*": [
              {
                guard: isLast,
                target: "planning",
                actions: [
                  stopActor,
                  xstate.assign(({ context, event }: Given<Result>) => ({
                    messages: [
                      ...context.messages,
                      { role: "tool", results: [...context.results, event.output] },
                    ],
                    results: [],
                  })),
                ],
              },
              {
                actions: [
                  stopActor,
                  xstate.assign({
                    results: ({ context, event }: Given<Result>) => [...context.results, event.output],
                  }),
                ],
              },
            ],
          },
        },
        done: { type: "final" },
      },
    });
}

export async function loopsOf(load: ImportPeer): Promise<Readonly<Record<string, Implementation>>> {
  // The package is not installed in this workspace, so its types cannot be imported.
  const xstate = (await load("xstate")) as unknown as XState;
  const loopOf =
    (machineOf: typeof promiseMachine): Implementation =>
    (script, counter) => {
      const machine = machineOf(xstate, script, counter);
      return async () => {
        const actor = xstate.createActor(machine);
        actor.start();
        await xstate.toPromise(actor);
      };
    };
  return { xstate: loopOf(promiseMachine), "xstate, actors": loopOf(actorMachine) };
}
