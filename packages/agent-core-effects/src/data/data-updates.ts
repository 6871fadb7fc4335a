import type { DataPatch, Immutable, Json } from "@moora/agent-core-state-machine";
import type { AnyData, Recipe } from "./define-data.ts";

/**
 * Runs a recipe on the data, and returns the data with it. The update becomes part of the session together with the result of
 * the call or handler, or not at all: a failure, a cancel or a crash drops it. Then the recipe runs again, against the data of
 * that moment. Throws `DataRefused` for a value that does not fit the schema; the data is as before.
 */
export type UpdateData<Value> = (recipe: Recipe<Value>) => Immutable<Value>;

/** The part of a context that tools and handlers with application data have. */
export interface DataContext<Value> {
  /** The data when the call started, without its own updates. */
  readonly data: Immutable<Value>;
  readonly update: UpdateData<Value>;
}

/** The updates of application data by one call or one handler. */
export class DataUpdates {
  readonly #definition: AnyData;
  readonly #recipes: Recipe<unknown>[] = [];
  /** The data when the work started, and with the updates so far. */
  readonly #started: Json;
  #data: Json;
  #isClosed = false;

  constructor(definition: AnyData, data: Json) {
    this.#definition = definition;
    this.#started = data;
    this.#data = data;
  }

  get isEmpty(): boolean {
    return this.#recipes.length === 0;
  }

  /** The fields of a context. Values have the type that the definition has checked. */
  context(): DataContext<unknown> {
    return { data: this.#started, update: (recipe) => this.#update(recipe) };
  }

  /** The updates of a tool that this handler calls. They become updates of the handler when they are added to it. */
  ofTool(definition: AnyData): DataUpdates {
    return new DataUpdates(definition, this.#data);
  }

  /** Adds the updates of a tool that has succeeded. Throws what a recipe throws, and `DataRefused`. */
  add(updates: DataUpdates): void {
    for (const recipe of updates.#recipes) this.#update(recipe);
  }

  /** Drops the updates so far: the work has failed. */
  drop(): void {
    this.#recipes.length = 0;
  }

  /** Refuses later updates: the work has ended. */
  close(): void {
    this.#isClosed = true;
  }

  /** The patches of all recipes, in order, for this data. Throws what a recipe throws, and `DataRefused`. */
  patchesFor(data: Json): readonly DataPatch[] {
    const patches: DataPatch[] = [];
    let changed = data;
    for (const recipe of this.#recipes) {
      const change = this.#definition.change(changed, recipe);
      changed = change.data;
      patches.push(...change.patches);
    }
    return patches;
  }

  #update(recipe: Recipe<unknown>): Json {
    if (this.#isClosed) throw new Error("The call has ended. Update its data before it returns.");
    this.#data = this.#definition.change(this.#data, recipe).data;
    this.#recipes.push(recipe);
    return this.#data;
  }
}

/** The fields of the context of a handler whose agent has no data. */
export const noData: DataContext<unknown> = {
  data: null,
  update() {
    throw new Error("The agent has no data. Give defineAgent({ data }).");
  },
};
