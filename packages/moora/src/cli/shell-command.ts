/** A command line of `moora` that can be copied into a shell. */
export const shellCommand = (args: readonly string[]): string => ["moora", ...args].map(shellWord).join(" ");

const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
