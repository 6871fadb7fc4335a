import { EventType, type HttpAgent } from "@ag-ui/client";
import { defineData, defineTool, readSession, type Agent, type DataDefinition } from "@moora/agent";
import { answers, callsTools, type MockScript } from "@moora/llm/testing";
import fc from "fast-check";
import { expect } from "vitest";
import { AgUiScene } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";

/** Data of any shape, in which nothing is known of the schema. */
export const anything = (
  initial: object = { items: ["tea"] },
  more: Partial<Parameters<typeof defineData>[0]> = {},
): DataDefinition => defineData({ schema: { type: "object" }, initial, ...more });

/** A draft of the data. */
export type Draft = Record<string, unknown> & { items: string[] };

type Recipe = (draft: Draft) => void;

/** What a tool of these tests gets. */
export interface Work {
  readonly data: unknown;
  readonly update: ((recipe: Recipe) => unknown) & { now(recipe: Recipe): Promise<unknown> };
}

/** An agent whose tool `work` does what is given. */
export const working = (
  execute: (input: unknown, work: Work) => unknown,
  {
    data = anything(),
    script = [callsTools([{ name: "work", arguments: {} }]), answers("Done.")],
    approval = "never",
  }: {
    readonly data?: DataDefinition;
    readonly script?: MockScript;
    readonly approval?: "always" | "never";
  } = {},
): Agent => {
  const work = defineTool({
    name: "work",
    description: "Works.",
    input: { type: "object" },
    replay: "safe",
    approval,
    data,
    // The data has no type of its own.
    execute: execute as never,
  });
  return agentOf(script, { data, tools: [work] });
};

export const push =
  (item: string) =>
  (draft: Draft): void =>
    void draft.items.push(item);

/** The events about the state, without their other fields. */
export const stateEvents = ({ events }: AgUiScene): readonly unknown[] =>
  events.flatMap((event) => {
    if (event.type === EventType.STATE_SNAPSHOT)
      return [(event as unknown as { snapshot: unknown }).snapshot];
    return event.type === EventType.STATE_DELTA ? [(event as unknown as { delta: unknown }).delta] : [];
  });

export const add = (path: string, value: unknown) => [{ op: "add", path, value }];

export async function dataOf(scene: AgUiScene): Promise<unknown> {
  const [id = ""] = await scene.sessionIds();
  return (await scene.stateOf(id)).data;
}

export async function changeData(scene: AgUiScene, patches: readonly object[], user = "ada"): Promise<void> {
  const [id = ""] = await scene.sessionIds();
  const { body } = await scene.scene.as(user).post(`/sessions/${encodeURIComponent(id)}/data`, { patches });
  expect(body).toMatchObject({ status: "accepted" });
}

/** Others change the data from one object to another one, field by field. */
export async function becomes(scene: AgUiScene, from: object, to: object): Promise<void> {
  const old = new Map(Object.entries(from));
  const fields = new Map(Object.entries(to));
  const patches = [...new Set([...old.keys(), ...fields.keys()])]
    .filter((name) => JSON.stringify(old.get(name)) !== JSON.stringify(fields.get(name)))
    .map((name) => {
      const path = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const given = fields.get(name);
      return given === undefined ? { op: "remove", path } : { op: "add", path, value: given };
    });
  if (patches.length > 0) await changeData(scene, patches);
}

/** The session of the thread, and the records of changes that users have made, with the messages. */
export async function postsOf({ scene }: AgUiScene, id: string): Promise<readonly unknown[]> {
  const { inputs } = await readSession(scene.log, id);
  return inputs.flatMap((input): readonly unknown[] => {
    if (input.type === "user-message-received") return [input.content];
    return input.type === "data-changed" && input.by !== "agent" ? [[input.by, ...input.patches]] : [];
  });
}

export const posts = async (scene: AgUiScene): Promise<readonly unknown[]> =>
  await postsOf(scene, (await scene.sessionIds())[0] ?? "");

/** How a run was refused: its events, and the last one of them. */
export const refusalOf = (scene: AgUiScene) => {
  const types = scene.types.slice(scene.types.lastIndexOf("RUN_STARTED"));
  const { code, message } = scene.events.at(-1) as unknown as { code: string; message: string };
  return { types, code, message };
};

export const refused = ["RUN_STARTED", "STATE_SNAPSHOT", "RUN_ERROR"];

export const run = (client: HttpAgent, parameters: Parameters<HttpAgent["runAgent"]>[0] = {}) =>
  client.runAgent(parameters).catch(() => undefined);

export const lister = (data: DataDefinition = anything()): Agent => agentOf(() => answers("Yes."), { data });

export type Fields = Readonly<Record<string, unknown>>;

/** A server whose model answers each message after `during`, or fails then. */
export class PageScene extends AgUiScene {
  during: () => Promise<unknown>;
  fails: boolean;

  constructor(initial: Fields, options: ConstructorParameters<typeof AgUiScene>[1] = {}) {
    super(
      agentOf(() => this.#answer(), { data: anything(initial) }),
      options,
    );
    this.during = async () => undefined;
    this.fails = false;
  }

  async #answer() {
    const { during, fails } = this;
    this.during = async () => undefined;
    await during();
    if (fails) throw new Error("The model is down.");
    return answers("Yes.");
  }

  /** Others set fields of the data; undefined removes one. */
  async set(fields: Fields): Promise<void> {
    const before = (await dataOf(this)) as Fields;
    await becomes(this, before, { ...before, ...fields });
  }

  /** How the last run has ended: `RUN_FINISHED`, or the code or the message of its error. */
  get last(): string {
    const { type, code, message } = this.events.at(-1) as unknown as Record<
      "type" | "code" | "message",
      string
    >;
    return type === "RUN_ERROR" ? (code ?? message) : type;
  }
}

/** Changes fields of the state of a page; undefined removes one. */
export function edit(client: HttpAgent, edits: Fields): void {
  const fields = Object.entries({ ...(client.state as Fields), ...edits });
  client.setState(Object.fromEntries(fields.filter(([, field]) => field !== undefined)));
}

export const sendMessage = async (client: HttpAgent, content: string): Promise<void> => {
  client.addMessage({ id: crypto.randomUUID(), role: "user", content });
  await run(client);
};

/** How a run is refused for a conflict at these places. */
export const conflictOf = (...places: readonly string[]) => ({
  types: refused,
  code: "state-conflict",
  message: `The data was changed meanwhile at ${places.map((place) => JSON.stringify(place)).join(", ")}. Merge the changes, and run again.`,
});

const key = fc.constantFrom("", "a", "b~c", "d/e", "-", "0", "10", "constructor", "prototype", "toString");

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, 0, 1.5, "", "text"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

/** Objects of JSON, with keys that are written in another way in a path, or mean something to JavaScript. */
export const drawnData = fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true });
