import type { ViewerMessage } from "@moora/cloudflare";
import type { Miniflare } from "miniflare";

type Workerd = Pick<Miniflare, "dispatchFetch">;

/** A viewer of a session: its messages so far. */
export class Viewer {
  readonly messages: ViewerMessage[] = [];
  #onMessage: () => void = () => undefined;

  static async connect(workerd: Workerd, id: string, after?: number): Promise<Viewer> {
    const query = after === undefined ? "" : `?after=${after}`;
    const { webSocket } = await workerd.dispatchFetch(`http://localhost/sessions/${id}/events${query}`, {
      headers: { upgrade: "websocket", object: id },
    });
    if (webSocket === null) throw new Error("The object accepts no socket.");
    const viewer = new Viewer();
    webSocket.addEventListener("message", ({ data }) => {
      viewer.messages.push(JSON.parse(data as string) as ViewerMessage);
      viewer.#onMessage();
    });
    webSocket.accept();
    return viewer;
  }

  /** The numbers of the records that were sent, in order. */
  get seqs(): readonly number[] {
    return this.messages.flatMap((message) => (message.type === "input" ? [message.seq] : []));
  }

  get text(): string {
    return this.messages
      .map((message) =>
        message.type === "event" && message.event.type === "LlmToken" ? message.event.text : "",
      )
      .join("");
  }

  async until(isReached: () => boolean): Promise<void> {
    while (!isReached()) await new Promise<void>((resolve) => (this.#onMessage = resolve));
  }
}
