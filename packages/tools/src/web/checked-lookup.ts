import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { notFetched, type Refused } from "../refused.ts";

/** Which addresses may be connected to, and how names are resolved. */
export interface AddressRules {
  readonly resolve: (name: string) => Promise<readonly string[]>;
  readonly isAllowed: (address: string) => boolean;
}

/** Every address of a name, by the resolver of the system. */
export const resolveName = async (name: string): Promise<readonly string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/** Throws `Refused` for a host that is a forbidden IP address: addresses are not looked up. */
export function checkHost({ hostname }: URL, { isAllowed }: AddressRules): void {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(host) !== 0 && !isAllowed(host)) throw closedAddress(hostname);
}

/**
 * The lookup of one connection. It checks the addresses that the socket connects to, so a name that resolves differently
 * the next time does not bypass the check.
 */
export const checkedLookup =
  (rules: AddressRules): LookupFunction =>
  (name, { all }, callback) => {
    const addresses = callbackify(checkedAddresses);
    addresses(name, rules, (error, found) => {
      if (error !== null) return callback(error, "", 0);
      const [first = ""] = found;
      if (all !== true) return callback(null, first, isIP(first));
      return callback(
        null,
        found.map((address) => ({ address, family: isIP(address) })),
      );
    });
  };

/** One forbidden address forbids the whole name. */
async function checkedAddresses(
  name: string,
  { resolve, isAllowed }: AddressRules,
): Promise<readonly string[]> {
  const addresses = await resolve(name);
  if (addresses.length === 0) throw notFetched(`The host ${name} has no address.`);
  if (!addresses.every((address) => isAllowed(address))) throw closedAddress(name);
  return addresses;
}

const closedAddress = (host: string): Refused =>
  notFetched(`${host} is not on the public internet; only public addresses are fetched.`);
