/** A set of callbacks. One that throws does not keep the others from hearing; its error surfaces on its own. */
export interface Listeners<Args extends readonly unknown[]> {
  add(listener: (...args: Args) => void): () => void;
  emit(...args: Args): void;
  readonly size: number;
}

export function listeners<Args extends readonly unknown[]>(): Listeners<Args> {
  const all = new Set<(...args: Args) => void>();
  return {
    add(listener) {
      const own = (...args: Args): void => listener(...args);
      all.add(own);
      return () => void all.delete(own);
    },
    emit(...args) {
      for (const listener of all) {
        try {
          listener(...args);
        } catch (error) {
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    },
    get size() {
      return all.size;
    },
  };
}
