import { type ListStatements, listStatementsOf } from "./list-statements.ts";
import type { Tables } from "./tables.ts";

/** The SQL statements of a log. */
export type Statements = ListStatements &
  Readonly<
    Record<
      | "create"
      | "open"
      | "remove"
      | "removeAt"
      | "head"
      | "heads"
      | "read"
      | "digestAt"
      | "append"
      | "lease"
      | "setLease"
      | "release"
      | "snapshot"
      | "saveSnapshot"
      | "due"
      | "saveDue"
      | "putBlob"
      | "getBlob"
      | "removeBlob"
      | "prefix"
      | "isPrefixSame",
      string
    >
  >;

/**
 * A checksum over records that the server computes. It must be stable only on one server: if it differs, the records are
 * read.
 */
const checksum = "coalesce(sum(hashtextextended(digest || changes_digest || chr(10) || body, seq)), 0)";

export const statementsOf = ({ sessions, records, snapshots, due, blobs }: Tables): Statements => ({
  /** Commits durably even if the server's default is weaker. */
  putBlob: `INSERT INTO ${blobs} (digest, bytes) VALUES ($1, $2)
      ON CONFLICT (digest) DO UPDATE SET bytes = excluded.bytes
      RETURNING CASE WHEN current_setting('synchronous_commit') = 'off'
        THEN set_config('synchronous_commit', 'on', true) END`,
  getBlob: `SELECT bytes FROM ${blobs} WHERE digest = $1`,
  removeBlob: `DELETE FROM ${blobs} WHERE digest = $1`,
  create: `INSERT INTO ${sessions} (generation, id, header, user_key, caller_key, lease_owner, lease_until)
      VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`,
  open: `SELECT generation, header FROM ${sessions} WHERE id = $1`,
  ...listStatementsOf(sessions, records),
  /** The row of the due time is locked first, as by appends, so that the two do not wait for each other. */
  remove: `WITH removed AS (DELETE FROM ${due} WHERE generation = $1 RETURNING generation)
      DELETE FROM ${sessions} WHERE generation = $1 AND (SELECT count(*) FROM removed) >= 0`,
  /** Removes a session whose last record is $2: an append at the same time changes the row, and the condition is checked again. */
  removeAt: `WITH removed AS (DELETE FROM ${due} WHERE generation = $1 AND seq = $2 RETURNING generation)
      DELETE FROM ${sessions} WHERE generation IN (SELECT generation FROM removed) RETURNING generation`,
  /** The sessions that are due at $1 and have no lease, after the one with due time $2 and id $3. */
  due: `SELECT id, header, due FROM ${due} JOIN ${sessions} USING (generation)
      WHERE due <= $1 AND (lease_until IS NULL OR lease_until <= $1) AND (due, id) > ($2::double precision, $3::text COLLATE "C")
      ORDER BY due, id LIMIT $4`,
  /** Saves the due time $3 if no record was added after $2. The row has the last record, so that an append at the same time counts. */
  saveDue: `UPDATE ${due} SET due = $3 WHERE generation = $1 AND seq = $2`,
  /** One row if the session exists: the columns of the last record, NULL if there is none. */
  head: `SELECT seq, digest FROM ${sessions} s LEFT JOIN LATERAL
      (SELECT seq, digest FROM ${records} r WHERE r.generation = s.generation ORDER BY seq DESC LIMIT 1) last ON true
      WHERE s.generation = $1`,
  heads: `SELECT generation, (SELECT max(seq) FROM ${records} r WHERE r.generation = s.generation) AS head
      FROM ${sessions} s WHERE generation = ANY ($1::uuid[])`,
  /** No row if the session does not exist; else one row for each record, or one row of NULL if there are none. At most $3, unless it is NULL. */
  read: `SELECT seq, changes_digest, digest, body FROM ${sessions} s
      LEFT JOIN ${records} r ON r.generation = s.generation AND seq >= $2 WHERE s.generation = $1 ORDER BY seq LIMIT $3::bigint`,
  digestAt: `SELECT digest FROM ${records} WHERE generation = $1 AND seq = $2`,
  /**
   * Adds records after the one with number $2 and digest $3, if that is the last, and notifies watchers; returns one row for
   * each record added. One statement is one transaction: all or none. It commits durably even if the server's default is weaker.
   * The session is due from then on. Of two concurrent appends, the second violates the key; a later one adds nothing, which causes no error in the log of the
   * server.
   */
  append: `WITH added AS (INSERT INTO ${records} AS added (generation, seq, changes_digest, digest, body)
      SELECT $1::uuid, new.seq, new.changes_digest, new.digest, new.body
      FROM unnest($4::bigint[], $5::text[], $6::text[], $7::text[]) AS new (seq, changes_digest, digest, body)
      WHERE ($2::bigint = 0 OR EXISTS (SELECT FROM ${records} WHERE generation = $1 AND seq = $2 AND digest = $3))
        AND NOT EXISTS (SELECT FROM ${records} WHERE generation = $1 AND seq = $2 + 1)
      RETURNING
        added.seq,
        CASE WHEN added.seq = $2 + 1 AND current_setting('synchronous_commit') = 'off'
          THEN set_config('synchronous_commit', 'on', true) END,
        CASE WHEN added.seq = $2 + 1 AND $8::text IS NOT NULL THEN pg_notify($8, $9) END),
      marked AS (INSERT INTO ${due} (generation, seq, due)
        SELECT $1::uuid, max(seq), 0 FROM added HAVING count(*) > 0
        ON CONFLICT (generation) DO UPDATE SET seq = excluded.seq, due = 0)
      SELECT seq FROM added`,
  lease: `SELECT lease_owner AS owner, lease_until AS until FROM ${sessions} WHERE generation = $1`,
  /** Sets the lease if it is still the one that was read: owner $4 until $5. */
  setLease: `UPDATE ${sessions} SET lease_owner = $2, lease_until = $3
      WHERE generation = $1 AND lease_owner IS NOT DISTINCT FROM $4 AND lease_until IS NOT DISTINCT FROM $5
      RETURNING generation`,
  release: `UPDATE ${sessions} SET lease_owner = NULL, lease_until = NULL WHERE generation = $1 AND lease_owner = $2`,
  snapshot: `SELECT seq, digest, version, body, body_digest, seal FROM ${sessions} s
      LEFT JOIN ${snapshots} p ON p.generation = s.generation WHERE s.generation = $1`,
  saveSnapshot: `INSERT INTO ${snapshots} (generation, seq, digest, version, body, body_digest, seal, prefix_seq, prefix_sum)
      SELECT generation, $2, $3, $4, $5, $6, $7, $8, $9 FROM ${sessions} WHERE generation = $1
      ON CONFLICT (generation) DO UPDATE SET seq = excluded.seq, digest = excluded.digest, version = excluded.version,
        body = excluded.body, body_digest = excluded.body_digest, seal = excluded.seal,
        prefix_seq = excluded.prefix_seq, prefix_sum = excluded.prefix_sum
      RETURNING generation`,
  /** The checksum up to the last record, computed from the checksum $3 up to record $2. */
  prefix: `SELECT coalesce(max(seq), $2) AS seq, (${checksum} + $3::numeric)::text AS sum
      FROM ${records} WHERE generation = $1 AND seq > $2`,
  /** One row if the session exists: the last record that the saved checksum covers, and whether it matches. */
  isPrefixSame: `SELECT prefix_seq AS seq, prefix_sum AS sum, prefix_sum =
        (SELECT (${checksum})::text FROM ${records} r WHERE r.generation = $1 AND r.seq <= prefix_seq) AS is_same
      FROM ${sessions} s LEFT JOIN ${snapshots} p ON p.generation = s.generation WHERE s.generation = $1`,
});
