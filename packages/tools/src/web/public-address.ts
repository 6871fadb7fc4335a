import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The agent of virtual machines in a cloud has this public address. */
const cloudAgent = "168.63.129.16";

/** The part of IPv6 that is assigned to the public internet. */
const assigned = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Whether an IP address belongs to a host of the public internet: not this machine, its network, multicast, a metadata
 * service, or an IPv4 address embedded in IPv6.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes("%") || address === cloudAgent) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(assigned);
}
