import type { AgentAttachment, AgentState } from "@moora/agent-core-state-machine";

/** The media type of a file in the messages, or in the results of calls; undefined if they do not have it. */
export function mediaTypeIn({ messages, toolCalls }: AgentState, url: string): string | undefined {
  for (const { attachments = [] } of messages) {
    const mediaType = typeOf(attachments, url);
    if (mediaType !== undefined) return mediaType;
  }
  for (const { result } of Object.values(toolCalls)) {
    const mediaType = result?.isSuccess === true ? typeOf(result.files ?? [], url) : undefined;
    if (mediaType !== undefined) return mediaType;
  }
  return undefined;
}

const typeOf = (files: readonly AgentAttachment[], url: string): string | undefined =>
  files.find((file) => file.url === url)?.mediaType;

/** The headers of a response with a file of a session, whose bytes have this digest. */
export const fileHeaders = (mediaType: string, digest: string): Readonly<Record<string, string>> => ({
  "content-type": isHeaderValue(mediaType) ? mediaType : "application/octet-stream",
  // A page must not run in the origin of the server.
  "content-disposition": isShown(mediaType) ? "inline" : "attachment",
  "content-security-policy": "default-src 'none'; sandbox",
  "x-content-type-options": "nosniff",
  "cache-control": "private, max-age=31536000, immutable",
  etag: `"${digest}"`,
});

const isHeaderValue = (text: string): boolean => /^[\w.+-]+\/[\w.+-]+$/.test(text);

/** Whether a browser may show a file in place: pictures without scripts, audio and video. */
const isShown = (mediaType: string): boolean => /^(image\/(?!svg)|audio\/|video\/)/.test(mediaType);
