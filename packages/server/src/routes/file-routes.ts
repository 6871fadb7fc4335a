import { fileHeaders, mediaTypeIn } from "@moora/agent/internal";
import { HttpProblem } from "../problem.ts";
import { storeOf } from "../files/files-of-session.ts";
import { urlOfDigest } from "../files/viewer-urls.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { Route } from "./route.ts";

/** Reads a file whose bytes are stored outside the records. Only files that the session refers to are there. */
export const readFile: Route = async ({ parts, access, param }) => {
  const ref = await parts.directory.findFor(access, "read", param("id"));
  const url = urlOfDigest(param("digest"));
  const read = async ({ session }: LiveSession): Promise<string | undefined> => {
    await session.refresh();
    return mediaTypeIn(session.current(), url);
  };
  const mediaType = await parts.pool.use(ref, read, { isRead: true });
  const bytes = mediaType === undefined ? undefined : await storeOf(parts.context)?.get(url);
  if (mediaType === undefined || bytes === undefined)
    throw new HttpProblem("not-found", "The session has no such file.");
  return new Response(bytes.slice(), { headers: fileHeaders(mediaType, param("digest")) });
};
