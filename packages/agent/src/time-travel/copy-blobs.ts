import { blobUrlsIn, type EventLog, type LogRecord } from "@moora/event-log";

/** Copies the stored bytes that records refer to, where two logs have stores of their own. Missing bytes stay missing. */
export async function copyBlobs(from: EventLog, to: EventLog, records: readonly LogRecord[]): Promise<void> {
  const [source, target] = [from.blobs, to.blobs];
  if (from === to || source === undefined || target === undefined) return;
  const urls = new Set(records.flatMap(({ body }) => blobUrlsIn(body)));
  for (const url of urls) {
    const bytes = await source.get(url);
    if (bytes !== undefined) await target.put(bytes, "application/octet-stream");
  }
}
