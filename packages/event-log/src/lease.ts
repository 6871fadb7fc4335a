import type { Lease, LeaseClaim } from "./port.ts";

/** The lease in force after a claim: the claimed one when the present one is free, run out or one's own. */
export function leaseAfter(current: Lease | undefined, claim: LeaseClaim): Lease {
  const until = claim.now + claim.ttlMs;
  if (!Number.isFinite(until)) throw new RangeError("a lease needs a finite `now` and `ttlMs`");
  const isHeld = current !== undefined && current.owner !== claim.owner && current.until > claim.now;
  return isHeld ? current : { owner: claim.owner, until };
}
