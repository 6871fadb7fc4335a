import { listsKey } from "./state-lists.ts";

/**
 * A property that is computed from the collections in `listsKey` when it is read. All objects share it, which keeps their
 * creation fast.
 */
export const lazy = <Lists>(
  read: (lists: Lists) => unknown,
): PropertyDescriptor & ThisType<{ readonly [listsKey]: Lists }> => ({
  get() {
    return read(this[listsKey]);
  },
  enumerable: true,
  configurable: true,
});
