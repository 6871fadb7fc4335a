/** A command line of `moora` that can be copied into a shell. */
export const shellCommand = (args: readonly string[]): string => ["moora", ...args].map(shellWord).join(" ");

/** A word as a shell reads it, in quotes where it needs them. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
