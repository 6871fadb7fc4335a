import { HttpProblem } from "../problem.ts";
import { mediaTypeIn, storeOf } from "../files/files-of-session.ts";
import { digestOfUrl, urlOfDigest } from "../files/viewer-urls.ts";
import type { Route } from "./route.ts";

/** Reads a file whose bytes are stored outside the records. Only files that the session refers to are there. */
export const readFile: Route = async ({ parts, access, param }) => {
  const ref = await parts.directory.findFor(access, "read", param("id"));
  const url = urlOfDigest(param("digest"));
  const mediaType = await parts.pool.use(ref, async ({ session }) => {
    await session.refresh();
    return mediaTypeIn(session.current(), url);
  });
  const bytes = mediaType === undefined ? undefined : await storeOf(parts.context)?.get(url);
  if (mediaType === undefined || bytes === undefined)
    throw new HttpProblem("not-found", "The session has no such file.");
  return new Response(bytes.slice(), {
    headers: {
      "content-type": isHeaderValue(mediaType) ? mediaType : "application/octet-stream",
      // A page must not run in the origin of the server.
      "content-disposition": isShown(mediaType) ? "inline" : "attachment",
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "private, max-age=31536000, immutable",
      etag: `"${digestOfUrl(url)}"`,
    },
  });
};

const isHeaderValue = (text: string): boolean => /^[\w.+-]+\/[\w.+-]+$/.test(text);

/** Whether a browser may show a file in place: pictures without scripts, sound and film. */
const isShown = (mediaType: string): boolean => /^(image\/(?!svg)|audio\/|video\/)/.test(mediaType);
