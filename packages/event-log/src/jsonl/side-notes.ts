import type { Lease } from "../port.ts";
import type { PrefixChecksum } from "./prefix.ts";

/** The value of the `.lease` file, which is kept when the lease is released. */
export interface LeaseNote {
  readonly lease?: Lease | undefined;
  /** The last acknowledged record when this was saved. A log that ends before it is damaged. */
  readonly acknowledgedSeq?: number | undefined;
}

/** The value of the `.snapshot` file. */
export interface SnapshotNote {
  readonly seq: number;
  readonly digest: string;
  readonly version: string;
  readonly bodyDigest: string;
  readonly prefix: PrefixChecksum;
  readonly acknowledgedSeq?: number | undefined;
}

/** The later of two sequence numbers, either of which may be unknown. */
export const laterSeq = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

const isSeq = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value);

const isLease = (value: unknown): boolean =>
  value === undefined ||
  (isFields(value) && typeof value["owner"] === "string" && typeof value["until"] === "number");

const isChecksum = (value: unknown): boolean =>
  isFields(value) &&
  typeof value["digest"] === "string" &&
  ["seq", "offset", "crc"].every((name) => Number.isSafeInteger(value[name]));

export const isLeaseNote = (value: unknown): value is LeaseNote =>
  isFields(value) && isLease(value["lease"]) && isSeq(value["endSeq"]);

export const isSnapshotNote = (value: unknown): value is SnapshotNote =>
  isFields(value) &&
  typeof value["seq"] === "number" &&
  typeof value["digest"] === "string" &&
  typeof value["version"] === "string" &&
  typeof value["bodyDigest"] === "string" &&
  isChecksum(value["prefix"]) &&
  isSeq(value["endSeq"]);
