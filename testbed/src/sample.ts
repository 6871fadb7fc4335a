/** The tests run samples of large sets of cases; with MOORA_PROVE set, as the proof `every-case` does, they run all. */
export const isProof: boolean = process.env["MOORA_PROVE"] !== undefined;

/** One in so many of the cases; all of them in the proof. */
export const sample = <Case>(cases: readonly Case[], oneIn: number): readonly Case[] =>
  cases.filter((_, index) => isProof || index % oneIn === 0);
