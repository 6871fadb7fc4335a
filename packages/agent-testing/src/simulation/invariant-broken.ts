/** Thrown when an invariant does not hold: one of the kit, V1 to V19, or one of the user's, by its name. */
export class InvariantBroken extends Error {
  override readonly name = "InvariantBroken";
  readonly invariant: string;

  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`);
    this.invariant = invariant;
  }
}

/** Throws `InvariantBroken` where a condition does not hold. */
export function check(holds: boolean, invariant: string, message: () => string): asserts holds {
  if (!holds) throw new InvariantBroken(invariant, message());
}
