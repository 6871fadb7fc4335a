/** @jsxImportSource preact */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { childrenPerPage, type TreeChildren, type TreeNode } from "../session/tree.ts";
import { view, worker } from "./store.ts";

/** The state at the position as a tree, with what the record changed. Fields are read when they are opened. */
export function StateTree(): JSX.Element | null {
  const seq = view.value?.seq;
  if (seq === undefined) return null;
  return (
    <div class="tree">
      <p class="facts">
        <span class="legend changed">changed by this record</span>
        <span class="legend added">added by it</span>
      </p>
      <Children seq={seq} path={[]} />
    </div>
  );
}

interface PathProps {
  readonly seq: number;
  readonly path: readonly string[];
}

function Children({ seq, path }: PathProps): JSX.Element {
  const [shown, setShown] = useState<TreeChildren>({ nodes: [], total: 0 });
  const [pages, setPages] = useState(1);
  useEffect(() => {
    let isCurrent = true;
    const load = async (): Promise<void> => {
      const loaded: TreeNode[] = [];
      let total = 0;
      for (let page = 0; page < pages; page += 1) {
        const part = await worker.call("children", seq, path, page * childrenPerPage);
        loaded.push(...part.nodes);
        total = part.total;
      }
      if (isCurrent) setShown({ nodes: loaded, total });
    };
    void load();
    return () => void (isCurrent = false);
  }, [seq, pages, path.join("\n")]);
  return (
    <ul>
      {shown.nodes.map((node) => (
        <li key={node.key} class={node.change}>
          <Node seq={seq} path={[...path, node.key]} node={node} />
        </li>
      ))}
      {shown.nodes.length < shown.total ? (
        <li>
          <button type="button" class="quiet" onClick={() => setPages(pages + 1)}>
            Show more ({shown.total - shown.nodes.length})
          </button>
        </li>
      ) : null}
    </ul>
  );
}

/** What a reader looks for first, and what the record changed, but for the counters and indexes in the context of the loop. */
function isOpenAtFirst(path: readonly string[], { change, size }: TreeNode): boolean {
  const [root = ""] = path;
  if (path.length === 1 && (root === "messages" || root === "toolCalls")) return true;
  return root !== "reActContext" && change !== "none" && path.length < 4 && size <= 40;
}

function Node({ seq, path, node }: PathProps & { readonly node: TreeNode }): JSX.Element {
  const [isOpen, setOpen] = useState(isOpenAtFirst(path, node));
  const { key, kind, preview, size } = node;
  if (kind !== "object" && kind !== "array") {
    return (
      <div class="leaf">
        <span class="key">{key}</span>
        <span class={`value ${kind}`}>{kind === "string" ? JSON.stringify(preview) : preview}</span>
      </div>
    );
  }
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="key">{key}</span>
        <span class="size">{kind === "array" ? `[${size}]` : `{${size}}`}</span>
      </summary>
      {isOpen ? <Children seq={seq} path={path} /> : null}
    </details>
  );
}
