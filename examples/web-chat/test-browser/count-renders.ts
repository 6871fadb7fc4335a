/** A node of React's tree, as far as it is read here. */
interface Fiber {
  readonly type: unknown;
  readonly flags: number;
  readonly child: Fiber | null;
  readonly sibling: Fiber | null;
  readonly alternate: Fiber | null;
}

/**
 * Counts how often React renders each function component of a page, by its name, in `renders` of the global object. It runs in the
 * page before React does, and uses the hook of React's developer tools: components do not know of it.
 */
export function countRenders(): void {
  const renders: Record<string, number> = {};
  const performedWork = 1;
  const count = (fiber: Fiber): void => {
    const { type } = fiber;
    // A memoized component is an object around the function.
    const inner: unknown = typeof type === "object" && type !== null && "type" in type ? type.type : type;
    if (typeof inner !== "function") return;
    renders[inner.name] = (renders[inner.name] ?? 0) + 1;
  };
  const visit = (fiber: Fiber, before: Fiber | null): void => {
    if (fiber === before) return;
    if (before === null || fiber.flags & performedWork) count(fiber);
    if (before !== null && fiber.child === before.child) return;
    for (let child = fiber.child; child !== null; child = child.sibling) visit(child, child.alternate);
  };
  const hook = {
    supportsFiber: true,
    renderers: new Map(),
    inject: () => 1,
    onCommitFiberUnmount: () => undefined,
    onPostCommitFiberRoot: () => undefined,
    onCommitFiberRoot: (_id: number, { current }: { readonly current: Fiber }) =>
      visit(current, current.alternate),
  };
  Object.assign(globalThis, { renders, __REACT_DEVTOOLS_GLOBAL_HOOK__: hook });
}
