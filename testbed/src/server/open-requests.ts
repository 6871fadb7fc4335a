import { expect } from "vitest";
import { turn, untilPasses } from "../test-clock.ts";

/** The requests of a page, each of them open until its response was read or canceled, or until it has failed. */
export class OpenRequests {
  #begun = 0;
  #ended = 0;

  /** Counts a request. */
  async count(request: () => Promise<Response>): Promise<Response> {
    this.#begun += 1;
    const end = (): void => void (this.#ended += 1);
    try {
      const response = await request();
      if (response.body !== null) return new Response(response.body.pipeThrough(endOf(end)), response);
      end();
      return response;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Waits until a page has no open request, and does nothing by itself. */
  async settle(chat: { readonly status: string }): Promise<void> {
    let begun: number;
    do {
      await untilPasses(() => checkRest(this.#begun - this.#ended, chat.status));
      begun = this.#begun;
      // What follows from the end of a response begins within a turn of the event loop: nothing in the page waits for a timer.
      await turn();
    } while (this.#begun !== begun || this.#ended !== begun);
  }
}

/** Calls back when a body has ended or failed, or when its reader has left. */
function endOf(onEnd: () => void): TransformStream<Uint8Array, Uint8Array> {
  // The types of the DOM do not have `cancel`.
  const transformer = { flush: onEnd, cancel: onEnd };
  return new TransformStream(transformer);
}

function checkRest(openRequests: number, status: string): void {
  expect({ openRequests, status }).toEqual({
    openRequests: 0,
    status: expect.stringMatching(/^(?:ready|error)$/),
  });
}
