import type { Immutable, Json } from "@moora/agent-core-state-machine";
import { differenceOf } from "@moora/agent-core-state-machine/internal";
import { dataAt, type DataState } from "./data-at.ts";
import { DataRefused } from "./data-refused.ts";
import type { AnyData, DataChange, Recipe } from "./define-data.ts";

/**
 * Changes the data of a session while a tool or a handler runs. A call runs a recipe on the data, and returns the data with it.
 * The update becomes part of the session together with the result of the call or handler, or not at all: a failure, a cancel or
 * a crash drops it. Then the recipe runs again, against the data of that moment. Throws `DataRefused` for a value that does not
 * fit the schema; the data is as before.
 */
export interface UpdateData<Value> {
  (recipe: Recipe<Value>): Immutable<Value>;
  /**
   * Commits a recipe at once, after the updates that the call or handler has made so far, and resolves with the data of the
   * session after them. They stay if the work fails later, and an attempt that repeats it sees them. For handlers, and for
   * tools with `replay: "safe"` or `"keyed"`. Rejects with `DataRefused`: for a value that does not fit, for a tool that must
   * not run twice, after the end of the work, and in a run that cannot commit in the middle of a call. The recipe has no
   * effect then, and the earlier updates wait for the result as before.
   */
  now(recipe: Recipe<Value>): Promise<Immutable<Value>>;
}

/** The part of a context that tools and handlers with application data have. */
export interface DataContext<Value> {
  /** The data when the call started, without its own updates. */
  readonly data: Immutable<Value>;
  readonly update: UpdateData<Value>;
}

/** Why a change of a call or handler that does not run is refused. */
export const callIsOver = "the call was canceled or has ended.";

/** Commits recipes at once, and resolves with the data after them. Rejects with what refuses them. */
export type CommitRecipes = (recipes: readonly Recipe<unknown>[]) => Promise<Json>;

/** The change of several recipes, in order. Throws what a recipe throws, and `DataRefused`. */
export function changeOfAll(
  definition: AnyData,
  data: Json,
  recipes: readonly Recipe<unknown>[],
): DataChange {
  let changed = data;
  for (const recipe of recipes) changed = definition.change(changed, recipe).data;
  return { data: changed, patches: differenceOf(data, changed) };
}

/** The updates of application data by one call or one handler. */
export class DataUpdates {
  readonly #definition: AnyData;
  readonly #commit: CommitRecipes;
  /** The recipes that wait for the result. */
  #recipes: readonly Recipe<unknown>[] = [];
  /** The data when the work started. */
  readonly #started: Json;
  /** The data without the recipes that wait, and with them. */
  #committed: Json;
  #data: Json;
  readonly #commits = new Set<Promise<unknown>>();
  #isClosed = false;
  #isDropped = false;

  constructor(definition: AnyData, data: Json, commit: CommitRecipes) {
    this.#definition = definition;
    this.#commit = commit;
    this.#started = data;
    this.#committed = data;
    this.#data = data;
  }

  get isEmpty(): boolean {
    return this.#recipes.length === 0;
  }

  /** The fields of a context. Values have the type that the definition has checked. */
  context(): DataContext<unknown> {
    const update = (recipe: Recipe<unknown>): Json => this.#update(recipe);
    const now = (recipe: Recipe<unknown>): Promise<Json> => this.#flush([recipe]);
    return { data: this.#started, update: Object.assign(update, { now }) };
  }

  /** The updates of a tool that this handler calls. They become updates of the handler when they are added to it. */
  ofTool(definition: AnyData, refusal: CommitRecipes | undefined): DataUpdates {
    return new DataUpdates(definition, this.#data, refusal ?? ((recipes) => this.#flush(recipes)));
  }

  /** Adds the updates of a tool that has succeeded. Throws what a recipe throws, and `DataRefused`. */
  add(updates: DataUpdates): void {
    for (const recipe of updates.#recipes) this.#update(recipe);
  }

  /** Drops the updates so far: the work has failed. */
  drop(): void {
    this.#isDropped = true;
    this.#recipes = [];
  }

  /** Refuses later updates: the work has ended. Returns a promise for the commits that are under way, if there are some. */
  close(): Promise<unknown> | undefined {
    this.#isClosed = true;
    return this.#commits.size === 0 ? undefined : Promise.allSettled(this.#commits);
  }

  /** The change of all recipes that wait, in order, for the data of a state. Throws what a recipe throws, and `DataRefused`. */
  changeAt(state: DataState): DataChange {
    return this.#changeOf(dataAt(state, this.#definition));
  }

  #changeOf(data: Json): DataChange {
    return changeOfAll(this.#definition, data, this.#recipes);
  }

  #update(recipe: Recipe<unknown>): Json {
    if (this.#isClosed) throw new Error("The call has ended. Update its data before it returns.");
    this.#data = this.#definition.change(this.#data, recipe).data;
    this.#recipes = [...this.#recipes, recipe];
    return this.#data;
  }

  /** Commits the recipes that wait, and further ones. If they are refused, the former wait as before. */
  async #flush(added: readonly Recipe<unknown>[]): Promise<Json> {
    if (this.#isClosed) throw new DataRefused(callIsOver);
    const waiting = this.#recipes;
    this.#recipes = [];
    const committing = this.#commit([...waiting, ...added]);
    this.#commits.add(committing);
    try {
      this.#committed = await committing;
      return this.#committed;
    } catch (error) {
      if (!this.#isDropped) this.#recipes = [...waiting, ...this.#recipes];
      throw error;
    } finally {
      this.#commits.delete(committing);
      this.#data = this.#withWaiting();
    }
  }

  /** The committed data with the recipes that wait. One that no longer fits is refused with the result. */
  #withWaiting(): Json {
    try {
      return this.#changeOf(this.#committed).data;
    } catch {
      return this.#committed;
    }
  }
}

const refuseUpdate = (): never => {
  throw new Error("The agent has no data. Give defineAgent({ data }).");
};

/** The fields of the context of a handler whose agent has no data. */
export const noData: DataContext<unknown> = {
  data: null,
  update: Object.assign(refuseUpdate, { now: async () => refuseUpdate() }),
};
