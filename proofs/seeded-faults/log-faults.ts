import { fault, type Fault } from "./fault.ts";

const jsonl = "packages/event-log/src/jsonl";
const sqlite = "packages/event-log/src/sqlite";
const tests = "packages/event-log/test";
const conformance = `${tests}/conformance.long.test.ts`;

/** Faults of the logs: what is acknowledged would not be durable, or not be what was written. */
export const logFaults: readonly Fault[] = [
  fault(
    1,
    "no fsync",
    {
      file: `${jsonl}/files.ts`,
      text: "if (this.isDurable) this.#fs.fdatasyncSync(fd);",
      replacement: "",
    },
    [`${tests}/jsonl-power-loss.test.ts`],
    /a JSONL log that loses power.* has every acknowledged record/,
  ),
  fault(
    4,
    "the expected sequence number is not checked",
    {
      file: "packages/event-log/src/validation.ts",
      text: "if (expectedSeq !== head.seq) throw conflict(expectedSeq, head.seq);",
      replacement: "",
    },
    [conformance],
    /rejects an append whose expected head|rejects the same append a second time/,
  ),
  fault(
    6,
    "a torn tail is dropped in memory only",
    {
      file: `${jsonl}/session-file.ts`,
      text: "this.#folder.files.truncate(fd, content.ends.at(-1) ?? 0);",
      replacement: "",
    },
    [`${tests}/jsonl-tails.test.ts`],
    /a truncated file .*(?:keeps all complete records|loses a batch as a whole)|remains of an append .*removed by an append/,
  ),
  fault(
    7,
    "a damaged record in the middle is skipped",
    {
      file: `${jsonl}/record-lines.ts`,
      text: "return { lines, badLine: { start, seq: last.record.seq + 1 } };",
      replacement: "{ start = end + 1; continue; }",
    },
    [`${tests}/jsonl-damage.long.test.ts`],
    /a log of one megabyte, damaged outside its last record.* names the record/,
  ),
  fault(
    8,
    "the digest of a record does not cover the one before it",
    {
      file: "packages/event-log/src/digest.ts",
      text: "recordDigest = (previousDigest: string, body: string): string => digestOf(previousDigest, body)",
      replacement: "recordDigest = (_: string, body: string): string => digestOf(body)",
    },
    [`${tests}/codec.test.ts`],
    /a record > follows only the records and the header before it/,
  ),
  fault(
    31,
    "SQLite does not sync each commit",
    {
      file: `${sqlite}/open-database.ts`,
      text: 'durability === "full" ? "FULL" : "NORMAL"',
      replacement: '"NORMAL"',
    },
    [`${tests}/sqlite-power-loss.test.ts`],
    /a SQLite log that loses power.* > syncs each commit as full asks for/,
  ),
  fault(
    32,
    "a handle continues after a failed write",
    {
      file: `${jsonl}/session.ts`,
      text: "this.#failure = error;",
      replacement: ";",
    },
    [`${tests}/jsonl-faults.long.test.ts`],
    /after a sync that failed once.* no later one on the same handle until it is opened again/,
  ),
  fault(
    33,
    "the remains of a failed write are left in the file",
    {
      file: `${jsonl}/session-file.ts`,
      text: "try {\n        this.#truncate(fd, content);",
      replacement: "try {",
    },
    [`${tests}/jsonl-faults.long.test.ts`],
    /a write that fails > leaves no bytes|after a sync that failed once/,
  ),
  fault(
    34,
    "a folder of JSONL files has several owners",
    {
      file: `${jsonl}/lock-folder.ts`,
      text: "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE",
      replacement: "BEGIN",
    },
    [`${tests}/jsonl-owner.test.ts`],
    /a folder of JSONL files has one owner > of several processes/,
  ),
  fault(
    35,
    "a batch that was torn is taken as far as it goes",
    {
      file: `${jsonl}/record-lines.ts`,
      text: "lines.slice(0, lines.findLastIndex(({ at, of }) => at === of) + 1)",
      replacement: "lines",
    },
    [`${tests}/jsonl-tails.test.ts`],
    /loses a batch as a whole/,
  ),
  fault(
    36,
    "a lease is given to every process that asks",
    {
      file: "packages/event-log/src/lease.ts",
      text: "return isHeld ? current : { owner: claim.owner, until };",
      replacement: "return isHeld && until < 0 ? current : { owner: claim.owner, until };",
    },
    [conformance],
    /does not give a lease that is held to another owner/,
  ),
  fault(
    37,
    "a lease never runs out",
    {
      file: "packages/event-log/src/lease.ts",
      text: "current.owner !== claim.owner && current.until > claim.now",
      replacement: "current.owner !== claim.owner",
    },
    [conformance],
    /gives an expired lease to another owner/,
  ),
  fault(
    38,
    "a handle of a removed session writes into the next one of its id",
    {
      file: `${jsonl}/folder.ts`,
      text: "known.isRemoved = true;",
      replacement: "",
    },
    [conformance],
    /the jsonl log .*(?:removed|new session)/,
  ),
  fault(
    65,
    "a log returns records of the process before it without a sync of its own",
    {
      file: `${jsonl}/session-file.ts`,
      text: "files.syncFile(this.path);",
      replacement: "void 0;",
    },
    [`${tests}/jsonl-power-loss.test.ts`],
    /the records of a process that never synced and ended, once a full log has returned them/,
  ),
  fault(
    67,
    "the digest of a stored head is not compared with the last record that is read",
    {
      file: "packages/event-log/src/chain.ts",
      text: " && last.digest === end.digest",
      replacement: "",
    },
    [`${tests}/sqlite.test.ts`],
    /a database whose last record was replaced with another valid one/,
  ),
  fault(
    68,
    "the digest of a stored head is not compared with the last record that is checked",
    {
      file: "packages/event-log/src/chain.ts",
      text: "(last.seq === end.seq && last.digest === end.digest)",
      replacement: "last.seq === end.seq",
    },
    [`${tests}/sqlite.test.ts`],
    /a database whose last record was replaced with another valid one/,
  ),
];
