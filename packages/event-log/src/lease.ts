import type { Lease, LeaseClaim } from "./port.ts";

/**
 * Returns the lease in force after a claim: the claimed one if the current one is free, expired or owned by the claimant, else
 * the current one. Throws a RangeError if `now` or `ttlMs` is not finite.
 */
export function leaseAfter(current: Lease | undefined, claim: LeaseClaim): Lease {
  const until = claim.now + claim.ttlMs;
  if (!Number.isFinite(until)) {
    throw new RangeError(
      `The \`now\` and \`ttlMs\` of a lease must be finite numbers, got ${claim.now} and ${claim.ttlMs}.`,
    );
  }
  const isHeld = current !== undefined && current.owner !== claim.owner && current.until > claim.now;
  return isHeld ? current : { owner: claim.owner, until };
}
