/** The same body, which calls back when it has ended, or when its reader has left. */
export function watchedBody(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const read = await reader.read().catch((error: unknown) => {
        onEnd();
        throw error;
      });
      if (!read.done) return controller.enqueue(read.value);
      controller.close();
      onEnd();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
}
