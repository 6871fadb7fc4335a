/** A `fetch` whose open responses can be ended from outside, as if the server had closed the connection. */
export interface EndableFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Ends the response after this time of silence. A later call starts the time again. */
  endAfter(silenceMs: number): void;
  /** Stops waiting. */
  cancel(): void;
}

/** Wraps a `fetch`. Bytes that arrive while `endAfter` waits are still passed on. */
export function endableFetch(fetch: typeof globalThis.fetch): EndableFetch {
  let end: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = (): void => clearTimeout(timer);
  return {
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (response.body === null) return response;
      const body = response.body.pipeThrough(
        new TransformStream({
          start(controller) {
            end = () => controller.terminate();
          },
        }),
      );
      return new Response(body, response);
    },
    endAfter(silenceMs) {
      cancel();
      timer = setTimeout(() => end?.(), silenceMs);
    },
    cancel,
  };
}
