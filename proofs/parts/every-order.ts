/** Calls that end in every order and in every way: the orders of one combination of outcomes result in the same request. */
import { llmRequestAt } from "@moora/agent-core-effects";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import { keepLaws, requestProblems } from "@moora/agent-testing";
import { prove } from "./in-chunks.ts";

export interface EveryOrder {
  readonly name: string;
  readonly file: string;
  readonly from: AgentState;
  /** What leads to the calls. */
  readonly opening: readonly AgentInput[];
  readonly callIds: readonly string[];
  /** The possible outcomes of a call. */
  readonly outcomes: readonly ((callId: string) => readonly AgentInput[])[];
  /** What is wrong with a call at the end whose outcome had this index. */
  complaint?(state: AgentState, callId: string, outcome: number): string | undefined;
}

export async function proveEveryOrder(world: EveryOrder): Promise<void> {
  const { name, file, callIds, outcomes } = world;
  const orders = ordersOf(callIds);
  await prove({
    name,
    file,
    goal: orders.length * outcomes.length ** callIds.length,
    // Whole combinations, so that their orders can be compared.
    chunk: orders.length * 8,
    run(first, size) {
      const failures: string[] = [];
      const requests = new Map<number, string>();
      for (let number = first; number < first + size; number += 1) {
        const combination = Math.floor(number / orders.length);
        const order = orders[number % orders.length] ?? [];
        const problem = problemOf(world, order, combination, requests);
        if (problem !== undefined) failures.push(`case ${number}, order ${order.join()}: ${problem}`);
      }
      return { cases: size, failures, counts: { "combinations of outcomes": requests.size } };
    },
  });
}

function problemOf(
  { from, opening, callIds, outcomes, complaint }: EveryOrder,
  order: readonly string[],
  combination: number,
  requests: Map<number, string>,
): string | undefined {
  // A combination is a number with one digit for each call.
  const outcomeOf = (callId: string): number =>
    Math.floor(combination / outcomes.length ** callIds.indexOf(callId)) % outcomes.length;
  try {
    const keeper = keepLaws({ from, replays: false, thoroughly: (count) => count % 16 === 0 });
    for (const input of opening) keeper.apply(input);
    for (const callId of order)
      for (const input of outcomes[outcomeOf(callId)]?.(callId) ?? []) keeper.apply(input);
    const { state } = keeper;
    for (const callId of callIds) {
      const problem = complaint?.(state, callId, outcomeOf(callId));
      if (problem !== undefined) return problem;
    }
    const request = llmRequestAt(state);
    if (request === undefined) return "the model is not asked for more";
    const text = JSON.stringify(request);
    const other = requests.get(combination) ?? text;
    requests.set(combination, other);
    return other === text ? requestProblems(request)[0] : "another request than in another order";
  } catch (error) {
    return String(error);
  }
}

const ordersOf = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item, index) => ordersOf(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
