import type { Lease } from "../port.ts";
import type { Sum } from "./prefix.ts";

/** What stands beside a log about its lease, which stays when that is released. */
export interface LeaseNote {
  readonly lease?: Lease | undefined;
  /** A record that was acknowledged when this was saved: the log never ends before it again. */
  readonly endSeq?: number | undefined;
}

/** What stands beside a log about its snapshot. */
export interface SnapshotNote {
  readonly seq: number;
  readonly digest: string;
  readonly version: string;
  readonly bodyDigest: string;
  readonly prefix: Sum;
  readonly endSeq?: number | undefined;
}

/** The later of two positions, where they are known. */
export const laterSeq = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

const isSeq = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value);

const isLease = (value: unknown): boolean =>
  value === undefined ||
  (isFields(value) && typeof value["owner"] === "string" && typeof value["until"] === "number");

const isSum = (value: unknown): boolean =>
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
  isSum(value["prefix"]) &&
  isSeq(value["endSeq"]);
