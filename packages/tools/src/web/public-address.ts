import { BlockList, isIP } from "node:net";

/** IPv4 networks that are not public, or that belong to the services of a cloud. */
const closed4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // The agent of virtual machines in a cloud has this public address.
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;

/** The public part of IPv6, and the networks in it that are not public or that embed an IPv4 address. */
const open6 = ["2000::", 3] as const;
const closed6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

/**
 * Whether an IP address belongs to a host of the public internet: not this machine, its network, multicast, a metadata
 * service, or an IPv4 address embedded in IPv6.
 */
export function isPublicAddress(address: string): boolean {
  const version = address.includes("%") ? 0 : isIP(address);
  if (version === 4) return !closedNetworks().check(address, "ipv4");
  if (version === 6)
    return publicNetworks().check(address, "ipv6") && !closedNetworks().check(address, "ipv6");
  return false;
}

function closedNetworks(): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of closed4) list.addSubnet(network, prefix, "ipv4");
  for (const [network, prefix] of closed6) list.addSubnet(network, prefix, "ipv6");
  return list;
}

function publicNetworks(): BlockList {
  const list = new BlockList();
  list.addSubnet(open6[0], open6[1], "ipv6");
  return list;
}
