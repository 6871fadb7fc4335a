import type { AgentAttachment, DurableSession } from "@moora/agent";
import { mediaTypeIn } from "@moora/agent/internal";
import type { BlobStore } from "@moora/event-log";
import { HttpProblem } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";

/** The store of the bytes of files; undefined for a server without one. */
export const storeOf = ({ blobs, log }: Pick<ServerContext, "blobs" | "log">): BlobStore | undefined =>
  (blobs === false ? undefined : blobs.store) ?? log.blobs;

/** The files of a message of a user, and the field of the request that has them. */
export interface PostedFiles {
  readonly attachments: readonly AgentAttachment[] | undefined;
  readonly path: string;
}

/**
 * Checks the files of a message of a user. The URL of stored bytes names a file of any session, and a session that has it may read
 * the bytes: a user may post it only to a session that has the file. A URL that runs a script or names a file of a machine is refused, too.
 * Throws `refused`.
 */
export async function checkAttachments(
  context: Pick<ServerContext, "blobs" | "log">,
  session: DurableSession<unknown>,
  { attachments = [], path }: PostedFiles,
): Promise<void> {
  const store = storeOf(context);
  for (const { url } of attachments) {
    if (url.startsWith("data:") || mediaTypeIn(session.current(), url) !== undefined) continue;
    const reason = await refusalOf(url, store);
    if (reason === undefined) continue;
    await session.refresh();
    if (mediaTypeIn(session.current(), url) === undefined) throw new HttpProblem("refused", reason, { path });
  }
}

/** Why a session that does not have a file must not take its URL; undefined for the URL of another site. */
async function refusalOf(url: string, store: BlobStore | undefined): Promise<string | undefined> {
  if (isUnfit(url)) return unfit;
  // A URL by digest is refused also where no bytes are stored, so that the answer does not say what the store has.
  const isOfStore = /^\s*ni:/i.test(url) || (await store?.get(url)) !== undefined;
  return isOfStore ? notOfSession : undefined;
}

/** As browsers read a URL, which leave out white space and control characters in it. */
const isUnfit = (url: string): boolean =>
  url.trim() === "" || unfitProtocols.has(URL.parse(url)?.protocol ?? "");

const unfitProtocols: ReadonlySet<string> = new Set(["javascript:", "vbscript:", "file:"]);

const unfit =
  "An attachment must not have an empty URL, or one that begins with javascript:, vbscript: or file:. Send the bytes as a data URL.";

const notOfSession =
  "An attachment has the URL of a stored file that the session does not have. Send its bytes as a data URL.";
