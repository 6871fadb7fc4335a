import { produce } from "immer";
import * as mobx from "mobx";
import { describe, expect, it } from "vitest";
import * as vue from "vue";
import {
  agentTransition,
  beginReplay,
  createAgentTransition,
  initialAgentState,
  parseState,
  step,
  type AgentInput,
  type AgentState,
} from "../src/index.ts";

const start = initialAgentState({
  config: {
    limits: { maxSteps: 20_000, maxRepeatedCalls: 0 },
    reflection: { aboveInputTokens: 0 },
    toolCalls: { maxPerTurn: 10_000 },
  },
  tools: { search: { description: "Searches.", schema: "{}" } },
});

const message = (n: number): AgentInput => ({
  type: "user-message-received",
  messageId: `user_${n}`,
  content: `Hello ${n}.`,
  timestamp: n,
});

/** Calls as the model makes them. */
const callsMade = (from: number, count: number): AgentInput => ({
  type: "re-act-observed",
  calledLlmAt: from,
  observation: {
    type: "continue-re-act",
    toolCalls: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `call_${from + index}`,
        { name: "search", parameters: "{}", calledAt: from },
      ]),
    ),
  },
  timestamp: from,
});

const completed = (id: string): AgentInput => ({
  type: "tool-call-completed",
  toolCallId: id,
  result: { isSuccess: true, content: "found", receivedAt: 1 },
  timestamp: 1,
});

/** The inputs after which a state has this many messages, as many closed calls, and as many open ones, 64 calls at most in a turn. */
function* inputsOf(count: number): Generator<AgentInput> {
  for (let n = 0; n < count; n += 1) {
    yield message(n);
    yield { type: "re-act-cancelled", reason: "Enough.", timestamp: n };
  }
  yield message(count);
  for (let n = 0; n < count; n += 64) {
    const length = Math.min(64, count - n);
    yield callsMade(n, length);
    for (let index = 0; index < length; index += 1) yield completed(`call_${n + index}`);
  }
  yield callsMade(1_000_000, count);
}

function stateWith(count: number): AgentState {
  const replay = beginReplay(start);
  for (const input of inputsOf(count)) replay.apply(input);
  return replay.state();
}

const next = [completed("call_1000000"), message(1_000_001)];
const after = (state: AgentState): AgentState =>
  next.reduce((before, input) => agentTransition(input)(before), state);
/** What an application reads of a state. A deep observable of MobX does not enumerate what is created when it is read. */
function json(state: AgentState): string {
  const { control } = state.reActContext;
  const calls = "calls" in control ? control.calls : [];
  const fields = Object.entries(start).map(([key]) => [key, Reflect.get(state, key)]);
  return JSON.stringify([Object.fromEntries(fields), calls], (key, value) =>
    key === "calls" ? undefined : value,
  );
}

/** Every object of a state, with its path, through `messages`, `toolCalls` and `calls` as an application reads them. */
function* objectsIn(value: unknown, path = "state"): Generator<readonly [string, object]> {
  if (typeof value !== "object" || value === null) return;
  yield [path, value];
  for (const [key, child] of Object.entries(value)) yield* objectsIn(child, `${path}.${key}`);
}

const thawed = (state: AgentState): string[] =>
  [...objectsIn(state)].flatMap(([path, value]) => (Object.isFrozen(value) ? [] : [path]));

const counts = [1, 64, 65, 10_000];

describe.each(counts)("a state with %i messages, calls and open calls", (count) => {
  const state = stateWith(count);
  const expected = json(after(state));

  it("is frozen as a whole, after a fold and after each input", () => {
    expect(thawed(state)).toEqual([]);
    let live = after(state);
    if (count < 100) {
      live = start;
      for (const input of inputsOf(count)) {
        const stepped = step(input)(live);
        expect(thawed(stepped.state)).toEqual([]);
        expect(Object.isFrozen(stepped.changes)).toBe(true);
        live = stepped.state;
      }
      expect(json(live) === json(state)).toBe(true);
    }
    expect(thawed(live)).toEqual([]);
    const parsed = parseState(JSON.parse(JSON.stringify(live)));
    expect(parsed.ok ? thawed(parsed.state) : parsed.problem).toEqual([]);
  });

  it("refuses each write with a TypeError", () => {
    const written: { [Key in keyof AgentState]: AgentState[Key] } & Record<string, unknown> = { ...state };
    const record = written.toolCalls["call_1000000"];
    const { control } = written.reActContext;
    const elements: readonly unknown[] = [
      state,
      written.messages,
      written.messages[0],
      written.transcript[0],
      written.toolCalls,
      record,
      written.config.limits,
      written.reActContext,
      "calls" in control ? control.calls : undefined,
      "calls" in control ? control.calls[0]?.status : undefined,
    ];
    for (const element of elements)
      expect(() => Object.assign(Object(element), { content: "FORGED", length: 0 })).toThrow(TypeError);
  });

  it.each<[string, (value: AgentState) => object]>([
    ["reactive", (value) => vue.reactive<object>(value)],
    ["readonly", (value) => vue.readonly<object>(value)],
    ["shallowReactive", (value) => vue.shallowReactive<object>(value)],
    ["ref", (value) => vue.ref<object>(value).value],
    ["reactive, around it", (value) => vue.reactive<{ value: object }>({ value }).value],
  ])("is read and continued in Vue: %s", (_, wrap) => {
    // Vue gives an unwrapped type, which is the same for a state.
    const wrapped: AgentState = Object(wrap(state));
    expect(json(wrapped) === json(state)).toBe(true);
    expect(json(after(wrapped)) === expected).toBe(true);
  });

  it("renders again in Vue where the next state takes its place", () => {
    const shown = vue.ref(state);
    const seen: number[] = [];
    const stop = vue.watch(shown, ({ messages }) => seen.push(messages.length), { flush: "sync" });
    shown.value = agentTransition(message(2_000_000))(state);
    stop();
    expect(seen).toHaveLength(1);
  });

  it.each([
    ["a deep observable", (value: AgentState): AgentState => mobx.observable(value)],
    ["a box", (value: AgentState): AgentState => mobx.observable.box(value).get()],
    ["a reference", (value: AgentState): AgentState => mobx.observable.box(value, { deep: false }).get()],
  ])("is read and continued in MobX: %s", (_, wrap) => {
    const wrapped = wrap(state);
    expect(json(wrapped) === json(state)).toBe(true);
    expect(json(after(wrapped)) === expected).toBe(true);
  });

  it("is changed by immer, which makes another one", () => {
    const changed = produce(state, (draft) => {
      draft.messages.pop();
    });
    expect(changed.messages).toHaveLength(state.messages.length - 1);
    expect(json(after(produce(state, () => undefined))) === expected).toBe(true);
  });
});

it("a state of the application stays its own also where its transition has another configuration", () => {
  const own: AgentState = structuredClone(stateWith(1));
  const changed = createAgentTransition({ limits: { maxSteps: 5 } })(message(7))(own);
  for (const state of [own, changed])
    expect([state, state.messages, state.reActContext, state.config].some(Object.isFrozen)).toBe(false);
});

it("a state of the application, which is not frozen, stays its own", () => {
  const own: AgentState = structuredClone(stateWith(1));
  const changed = after(own);
  expect(Object.isFrozen(own)).toBe(false);
  expect(Object.isFrozen(changed)).toBe(false);
  expect(json(changed)).toBe(json(after(stateWith(1))));
});
