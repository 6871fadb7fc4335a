/** Folders of Moora: of the command line, and of the locks of a log. */
const folders: ReadonlySet<string> = new Set([".moora", ".locks"]);

/** The files of a session in a folder of JSONL files: the id, as far as a name can have it, and its hash. */
const sessionFile = /^[a-z0-9][a-z0-9-]*-[0-9a-f]{32}\.(jsonl|lease|snapshot)(\.new)?$/;

/** The file of a key that signs questions, and its draft. */
const keyFile = /\.mcp-secret(\.|$)/;

/** The bytes of a file, in the folder `blobs` beside the records of a log. */
const blobFile = /^[0-9a-f]{64}(\.new)?$/;

/** Whether the names of a path below the root are those of logs, keys or configuration of Moora, in any case of letters. */
export function isMooraPath(names: readonly string[]): boolean {
  // Some file systems compare names by their upper case, in which "s" has two lower cases.
  const folded = names.map((name) => name.toUpperCase().toLowerCase());
  return folded.some(
    (name, index) =>
      folders.has(name) ||
      sessionFile.test(name) ||
      keyFile.test(name) ||
      (blobFile.test(name) && folded[index - 1] === "blobs"),
  );
}

/** How files of Moora begin, whatever their names are. */
const beginnings: readonly RegExp[] = [
  // A session in a JSONL file.
  /^\{"format":\d+,"(generation|removed)":"[\w-]{22}","id":"/,
  // A lease or a snapshot of such a session.
  /^[\w-]{22} [\w-]{22}\n\{/,
  // A key that the command line has created.
  /^moora-mcp-secret-/,
];

const usersStart = /^\{\s*"users"\s*:\s*\[/;
const token = /"token(Sha256)?"\s*:\s*"/;

/** Whether a file, or its beginning, is a log of Moora, a key, or a list of users with tokens as the command line reads it. */
export function isMooraContent(bytes: Buffer): boolean {
  const start = bytes.toString("latin1", 0, 1_024);
  if (beginnings.some((beginning) => beginning.test(start))) return true;
  return isListOfUsers(bytes);
}

/** Whether it begins as a list of users, and has a token. Names may be escaped as JSON allows it, after any white space. */
function isListOfUsers(bytes: Buffer): boolean {
  const begin = bytes.findIndex((byte) => !whiteSpace.includes(byte));
  if (begin === -1 || bytes[begin] !== openingBrace) return false;
  const text = unescaped(bytes.toString("latin1", begin));
  return usersStart.test(text) && token.test(text);
}

/** Space, tab, line feed and carriage return. */
const whiteSpace: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];
const openingBrace = 0x7b;

/** A text with characters instead of its escapes of the form `\u0061`. */
const unescaped = (text: string): string =>
  text.replace(/\\u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
