/** The base64 text of a data URL of base64; undefined for any other URL. */
export const base64OfUrl = (url: string): string | undefined => /^data:[^,]*;base64,(.*)$/is.exec(url)?.[1];

/** The bytes of a base64 text; undefined for a text that is not base64. */
export function base64ToBytes(data: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
