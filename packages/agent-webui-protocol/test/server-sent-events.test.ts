import { describe, expect, it } from "vitest";
import { readServerSentEvents, type StreamEvent } from "../src/server-sent-events.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const bodyOf = (pieces: readonly Bytes[]): ReadableStream<Bytes> =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

const piecesOf = (bytes: Bytes, size: number): readonly Bytes[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  );

/** The events of a text, which are the same in pieces of every size. */
async function eventsOf(text: string): Promise<readonly StreamEvent[]> {
  const bytes = new TextEncoder().encode(text);
  const events = await Array.fromAsync(readServerSentEvents(bodyOf([bytes])));
  for (const size of [1, 2, 3, 7])
    expect(await Array.fromAsync(readServerSentEvents(bodyOf(piecesOf(bytes, size))))).toEqual(events);
  return events;
}

const message = (data: string): StreamEvent => ({ event: "message", data });

describe("a stream of server-sent events", () => {
  it("has events with their type and their data", async () => {
    expect(await eventsOf('id: 1\nevent: input\ndata: {"seq":1}\n\nevent: chunk\ndata: {}\n\n')).toEqual([
      { event: "input", data: '{"seq":1}' },
      { event: "chunk", data: "{}" },
    ]);
  });

  it("has lines that end with LF, CR LF or CR", async () => {
    const lines = ["event: a", "data: 1", "data: 2", "", "data: 3", "", ""];
    for (const end of ["\n", "\r\n", "\r"])
      expect(await eventsOf(lines.join(end))).toEqual([{ event: "a", data: "1\n2" }, message("3")]);
    expect(await eventsOf("data: 1\r\rdata: 2\n\r\ndata: 3\r\n\n")).toEqual([
      message("1"),
      message("2"),
      message("3"),
    ]);
  });

  it("has characters of several bytes, also where they are split", async () => {
    expect(await eventsOf("data: é 語 🌳\n\n")).toEqual([message("é 語 🌳")]);
  });

  it("skips a byte order mark at its beginning, and no other", async () => {
    expect(await eventsOf("\uFEFFdata: \uFEFFa\n\n\uFEFFdata: b\n\n")).toEqual([message("\uFEFFa")]);
  });

  it("skips comments, `retry`, `id` and unknown fields", async () => {
    expect(await eventsOf(": hello\n\nretry: 1000\n\nid: 7\n\n:\nretry: x\nother\ndata: 1\n\n")).toEqual([
      message("1"),
    ]);
  });

  it("removes one space after the colon, and no more", async () => {
    expect(await eventsOf("data:a\n\ndata:  b \n\ndata\n\ndata:\ndata: c:d\n\n")).toEqual([
      message("a"),
      message(" b "),
      message(""),
      message("\nc:d"),
    ]);
  });

  it("uses the last type, and forgets it after an event without data", async () => {
    expect(await eventsOf("event: a\nevent: b\ndata: 1\n\nevent: c\n\ndata: 2\n\n")).toEqual([
      { event: "b", data: "1" },
      message("2"),
    ]);
  });

  it("does not have an event whose blank line is missing", async () => {
    expect(await eventsOf("data: 1\n\ndata: 2\n")).toEqual([message("1")]);
  });

  it("replaces bytes that are not text", async () => {
    const bytes = Uint8Array.of(...Buffer.from("data: a"), 0xff, ...Buffer.from("b\n\n"));
    expect(await Array.fromAsync(readServerSentEvents(bodyOf([bytes])))).toEqual([message("a\uFFFDb")]);
  });

  it("has long events of many pieces, each of which is read once", async () => {
    // A reader that searches what it has kept once more for each piece does not finish in time.
    const count = 20_000;
    const piece = new TextEncoder().encode("x".repeat(1_000));
    const [begin, end] = ["data: ", "\n\n"].map((text) => new TextEncoder().encode(text));
    const pieces = [begin, ...Array.from({ length: count }, () => piece), end].filter(
      (each) => each !== undefined,
    );
    const events = await Array.fromAsync(readServerSentEvents(bodyOf(pieces)));
    expect(events.map(({ data }) => data.length)).toEqual([count * 1_000]);
  });

  it("reports every piece, comments too", async () => {
    let count = 0;
    const bytes = new TextEncoder().encode(": keep-alive\n\n");
    await Array.fromAsync(readServerSentEvents(bodyOf([bytes, bytes]), () => (count += 1)));
    expect(count).toBe(2);
  });

  it("cancels its body when the reader stops, and fails with it", async () => {
    let isCanceled = false;
    const endless = new ReadableStream<Bytes>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("data: 1\n\n")),
      cancel: () => void (isCanceled = true),
    });
    for await (const event of readServerSentEvents(endless)) {
      expect(event).toEqual(message("1"));
      break;
    }
    expect(isCanceled).toBe(true);
    const broken = new ReadableStream<Bytes>({ pull: (controller) => controller.error(new Error("Lost.")) });
    await expect(Array.fromAsync(readServerSentEvents(broken))).rejects.toThrow("Lost.");
  });
});
