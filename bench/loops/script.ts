/** Imports a package of a peer. */
export type ImportPeer = (name: string) => Promise<Readonly<Record<string, unknown>>>;

/**
 * What the model of a benchmark does: in each of `turns` turns it makes `calls` tool calls at once, then it answers. So a
 * run makes `turns` + 1 model calls and `turns` × `calls` tool calls.
 */
export interface Script {
  readonly turns: number;
  readonly calls: number;
}

/** Counts the calls of a run. */
export class CallCounter {
  models = 0;
  tools = 0;
  /** The messages that the model was sent, over all calls. */
  messages = 0;

  /** Throws unless a run made the calls of a script, and sent the model every turn before. Starts again from zero. */
  check({ turns, calls }: Script): void {
    const isComplete = this.models === turns + 1 && this.tools === turns * calls;
    if (!isComplete || this.messages < ((turns + 1) * (turns + 2)) / 2) {
      throw new Error(
        `A run of ${turns} turns with ${calls} calls made ${this.models} model calls with ${this.messages} messages and ${this.tools} tool calls.`,
      );
    }
    this.models = 0;
    this.tools = 0;
    this.messages = 0;
  }
}

/**
 * An agent loop: for a script, returns a function that runs it once. The model and the tool count their calls and do nothing
 * else; what is measured is the loop between them.
 */
export type Implementation = (script: Script, counter: CallCounter) => () => unknown;

/** Steps through a script: returns the turn of the next model call from 1, or undefined for the answer. */
export function scriptTurns({ turns }: Script): () => number | undefined {
  let turn = 0;
  return () => {
    turn = turn === turns ? 0 : turn + 1;
    return turn === 0 ? undefined : turn;
  };
}

/** The tool call of a turn as all models make it: an id and the text of its arguments, which differ from turn to turn. */
export const callAt = (turn: number, index: number): { readonly id: string; readonly input: string } => ({
  id: `call_${turn}_${index}`,
  input: `{"a":${turn + index}}`,
});

/** The calls of a turn. */
export const callsAt = (turn: number, { calls }: Script): readonly ReturnType<typeof callAt>[] =>
  Array.from({ length: calls }, (_, index) => callAt(turn, index));

/** The answer of every model. */
export const answerText = "That was all of it.";

/** The work of every tool. */
export const addOne = (counter: CallCounter, a: number): number => {
  counter.tools += 1;
  return a + 1;
};

/** A function that runs a script once and checks its calls. */
export function checkedRun(implement: Implementation, script: Script): () => unknown {
  const counter = new CallCounter();
  const run = implement(script, counter);
  const check = (): void => counter.check(script);
  return () => {
    const done = run();
    return done instanceof Promise ? done.then(check) : check();
  };
}

/** A named loop. */
export interface NamedLoop {
  readonly name: string;
  readonly implement: Implementation;
}
