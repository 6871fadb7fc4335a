import { expect } from "vitest";
import { watchedBody } from "../../../packages/server/src/watched-body.ts";
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
      if (response.body !== null) return new Response(watchedBody(response.body, end), response);
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

function checkRest(openRequests: number, status: string): void {
  expect({ openRequests, status }).toEqual({
    openRequests: 0,
    status: expect.stringMatching(/^(?:ready|error)$/),
  });
}
