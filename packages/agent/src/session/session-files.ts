import type { HostFiles } from "@moora/agent-core-effects";
import type { AgentAttachment, AgentInput } from "@moora/agent-core-state-machine";
import type { BlobStore } from "@moora/event-log";
import type { LlmFile } from "@moora/llm";
import { base64OfUrl, base64ToBytes } from "@moora/llm/internal";

/** How a session stores the bytes of its files outside its records. */
export interface BlobOptions {
  /** Where the bytes go. Default: the log's own store. */
  readonly store?: BlobStore;
  /** The most bytes of a file that stay in the record, as a data URL. An integer from 0. Default: 65,536. */
  readonly maxInlineBytes?: number;
}

/** The default of `maxInlineBytes`. */
export const defaultMaxInlineBytes = 65_536;

/** The files of a session: their bytes are in a store, and its records have their URLs. */
export class SessionFiles implements HostFiles {
  readonly #blobs: BlobStore;
  readonly #maxInlineBytes: number;

  /** Stores no file if `maxInlineBytes` is infinite, and loads those that were stored. */
  constructor(blobs: BlobStore, maxInlineBytes: number) {
    this.#blobs = blobs;
    this.#maxInlineBytes = maxInlineBytes;
  }

  readonly store = (file: AgentAttachment): AgentAttachment | Promise<AgentAttachment> => {
    const data = this.#dataToStore(file);
    return data === undefined ? file : this.#stored(file, data);
  };

  readonly load = async (file: LlmFile): Promise<LlmFile | undefined> => {
    if (!("url" in file) || file.url.startsWith("data:")) return file;
    const { url, ...about } = file;
    const bytes = await this.#blobs.get(url);
    if (bytes !== undefined) return { ...about, data: bytesToBase64(bytes) };
    return url.startsWith("ni:") ? undefined : file;
  };

  /** Inputs with the URLs of their files. A promise only if bytes are stored. */
  inputsToStore(inputs: readonly AgentInput[]): readonly AgentInput[] | Promise<readonly AgentInput[]> {
    if (!inputs.some((input) => this.#hasDataToStore(input))) return inputs;
    return Promise.all(inputs.map(async (input) => await this.#inputToStore(input)));
  }

  #hasDataToStore(input: AgentInput): boolean {
    const { attachments = [] } = input.type === "user-message-received" ? input : {};
    return attachments.some((file) => this.#dataToStore(file) !== undefined);
  }

  async #inputToStore(input: AgentInput): Promise<AgentInput> {
    if (input.type !== "user-message-received" || input.attachments === undefined) return input;
    const stored = input.attachments.map(async (file) => await this.store(file));
    return { ...input, attachments: await Promise.all(stored) };
  }

  /** The base64 text of a data URL that is too long for a record; undefined for any other URL. */
  #dataToStore({ url }: AgentAttachment): string | undefined {
    // Four characters of base64 are three bytes. A shorter URL needs no look at its content.
    if (!url.startsWith("data:") || url.length * 0.75 <= this.#maxInlineBytes) return undefined;
    const data = base64OfUrl(url);
    return data !== undefined && data.length * 0.75 > this.#maxInlineBytes ? data : undefined;
  }

  /** A file whose data is not base64 stays as it is. */
  async #stored(file: AgentAttachment, data: string): Promise<AgentAttachment> {
    const bytes = base64ToBytes(data);
    return bytes === undefined ? file : { ...file, url: await this.#blobs.put(bytes, file.mediaType) };
  }
}

function bytesToBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8_192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(binary);
}
