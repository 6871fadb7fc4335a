import { useAgent, type DataOf } from "@moora/react";
import { useRef, type JSX } from "react";
import type { shopper } from "../agent.ts";
import { usePost } from "./use-post.ts";

type Item = DataOf<typeof shopper>["items"][number];

/** The data of the session: the agent and every window change the same list. */
export function ShoppingList(): JSX.Element {
  const { data, update } = useAgent<typeof shopper>();
  const [problem, post] = usePost();
  /** Returns whether the server has accepted it. */
  const change = async (recipe: Parameters<typeof update>[0]): Promise<boolean> =>
    (await post(() => update(recipe))) !== undefined;
  const add = async (name: string): Promise<boolean> =>
    await change((draft) => void draft.items.push({ id: crypto.randomUUID(), name, isDone: false }));
  const toggle = (id: string): void =>
    void change((draft) => {
      const item = draft.items.find((other) => other.id === id);
      if (item !== undefined) item.isDone = !item.isDone;
    });
  const remove = (id: string): void =>
    void change((draft) => void (draft.items = draft.items.filter((item) => item.id !== id)));
  return (
    <section className="list" aria-labelledby="list-title">
      <h2 id="list-title">Shopping list</h2>
      <ul>
        {data.items.map((item) => (
          <ListItem key={item.id} item={item} toggle={toggle} remove={remove} />
        ))}
      </ul>
      {data.items.length === 0 && <p className="hint">The list is empty.</p>}
      {problem !== "" && (
        <p className="failure" role="alert">
          {problem}
        </p>
      )}
      <NewItem add={add} />
    </section>
  );
}

interface ListItemProps {
  readonly item: Item;
  readonly toggle: (id: string) => void;
  readonly remove: (id: string) => void;
}

const ListItem = ({ item: { id, name, isDone }, toggle, remove }: ListItemProps): JSX.Element => (
  <li>
    <label className={isDone ? "done" : ""}>
      <input type="checkbox" checked={isDone} onChange={() => toggle(id)} />
      <span>{name}</span>
    </label>
    <button type="button" className="quiet" aria-label={`Remove ${name}`} onClick={() => remove(id)}>
      ×
    </button>
  </li>
);

/** The field for an item that the user adds. A refused item stays in it. */
function NewItem({ add }: { readonly add: (name: string) => Promise<boolean> }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const addGiven = async (): Promise<void> => {
    const element = field.current;
    const name = element?.value.trim() ?? "";
    if (element === null || name === "") return;
    element.value = "";
    if (!(await add(name)) && element.value === "") element.value = name;
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void addGiven();
      }}
    >
      <label htmlFor="item">New item</label>
      <div className="row">
        <input id="item" ref={field} autoComplete="off" />
        <button type="submit">Add</button>
      </div>
    </form>
  );
}
