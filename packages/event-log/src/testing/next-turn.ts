/** Resolves in the next turn of the event loop, on every platform. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 0));
