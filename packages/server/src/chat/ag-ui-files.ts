import type { AgentAttachment } from "@moora/agent";
import { base64OfUrl } from "@moora/agent/internal";
import * as z from "zod/mini";
import { HttpProblem } from "../problem.ts";

/** The media types of parts whose source does not name one. */
const defaultTypes = {
  image: "image/png",
  audio: "audio/mpeg",
  video: "video/mp4",
  document: "application/pdf",
} as const;

const partSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text"), text: z.string() }),
  z.looseObject({
    type: z.enum(["image", "audio", "video", "document"]),
    source: z.discriminatedUnion("type", [
      z.looseObject({ type: z.literal("data"), value: z.string(), mimeType: z.string() }),
      z.looseObject({ type: z.literal("url"), value: z.string(), mimeType: z.optional(z.string()) }),
    ]),
  }),
]);

/** The text and the files of the parts of a message. Throws `refused` for a part that an agent cannot read. */
export function partsToContent(parts: readonly unknown[]): {
  readonly content: string;
  readonly attachments?: readonly AgentAttachment[];
} {
  const attachments: AgentAttachment[] = [];
  let content = "";
  for (const given of parts) {
    const read = partSchema.safeParse(given);
    if (!read.success) throw unknownPart();
    const part = read.data;
    if (part.type === "text") content += part.text;
    else {
      const { type, value, mimeType = defaultTypes[part.type] } = part.source;
      attachments.push({
        mediaType: mimeType,
        url: type === "url" ? value : `data:${mimeType};base64,${value}`,
      });
    }
  }
  return { content, ...(attachments.length === 0 ? {} : { attachments }) };
}

const unknownPart = (): HttpProblem =>
  new HttpProblem(
    "refused",
    "Parts of a message must be text, or an image, audio, video or document with a source of type data or url.",
    { path: "messages" },
  );

/** The content of a message with its files. */
export interface ContentWithFiles {
  readonly text: string;
  readonly files: readonly AgentAttachment[] | undefined;
}

/** The content of a message: its text, or a list of parts if it has files. `toUrl` returns the URL that viewers read. */
export const contentWithFiles = (
  { text, files = [] }: ContentWithFiles,
  toUrl: (url: string) => string,
): string | readonly object[] =>
  files.length === 0
    ? text
    : [
        ...(text === "" ? [] : [{ type: "text", text }]),
        ...files.map((file) => attachmentToPart({ ...file, url: toUrl(file.url) })),
      ];

function attachmentToPart({ mediaType, url }: AgentAttachment): object {
  const data = base64OfUrl(url);
  const source =
    data === undefined
      ? { type: "url", value: url, mimeType: mediaType }
      : { type: "data", value: data, mimeType: mediaType };
  const kind = /^(image|audio|video)\//.exec(mediaType)?.[1] ?? "document";
  return { type: kind, source };
}
