import type { Tables } from "./tables.ts";

/** The SQL statements of a log. */
export type Statements = Readonly<
  Record<
    | "create"
    | "open"
    | "list"
    | "remove"
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
    | "prefix"
    | "isPrefixSame",
    string
  >
>;

/**
 * A checksum over records, computed by the server, so that they need not be sent. It only has to be the same for the same
 * records on the same server: if it differs, the records are read.
 */
const checksum = "coalesce(sum(hashtextextended(digest || changed || chr(10) || body, seq)), 0)";

export const statementsOf = ({ sessions, records, snapshots }: Tables): Statements => ({
  create: `INSERT INTO ${sessions} (life, id, header) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`,
  open: `SELECT life, header FROM ${sessions} WHERE id = $1`,
  list: `SELECT id, header, (SELECT max(seq) FROM ${records} r WHERE r.life = s.life) AS head FROM ${sessions} s`,
  remove: `DELETE FROM ${sessions} WHERE life = $1`,
  /** One row when the session lives: the last record's columns, NULL when there is none. */
  head: `SELECT seq, digest FROM ${sessions} s LEFT JOIN LATERAL
      (SELECT seq, digest FROM ${records} r WHERE r.life = s.life ORDER BY seq DESC LIMIT 1) last ON true
      WHERE s.life = $1`,
  heads: `SELECT life, (SELECT max(seq) FROM ${records} r WHERE r.life = s.life) AS head
      FROM ${sessions} s WHERE life = ANY ($1::uuid[])`,
  /** One row when the session lives, with NULL in it when there are no such records; else one for each. */
  read: `SELECT seq, changed, digest, body FROM ${sessions} s
      LEFT JOIN ${records} r ON r.life = s.life AND seq >= $2 WHERE s.life = $1 ORDER BY seq`,
  digestAt: `SELECT digest FROM ${records} WHERE life = $1 AND seq = $2`,
  /**
   * Adds records after the one with number $2 and digest $3, when that is the last, and tells of it; answers how many
   * it added. One statement is one transaction: all or none. It is durable whatever the server's default is, unless
   * that is stronger. Of two at once the second violates the key; one that comes later just adds nothing, which
   * leaves no error in the server's own log.
   */
  append: `WITH added AS (
        INSERT INTO ${records} (life, seq, changed, digest, body)
        SELECT $1::uuid, new.seq, new.changed, new.digest, new.body
        FROM unnest($4::bigint[], $5::text[], $6::text[], $7::text[]) AS new (seq, changed, digest, body)
        WHERE ($2::bigint = 0 OR EXISTS (SELECT FROM ${records} WHERE life = $1 AND seq = $2 AND digest = $3))
          AND NOT EXISTS (SELECT FROM ${records} WHERE life = $1 AND seq = $2 + 1)
        RETURNING seq
      )
      SELECT count(*)::int AS added,
        CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END,
        CASE WHEN count(*) > 0 AND $8::text IS NOT NULL THEN pg_notify($8, $1::uuid::text) END
      FROM added`,
  lease: `SELECT lease_owner AS owner, lease_until AS until FROM ${sessions} WHERE life = $1`,
  /** Only when the lease is still the one that was looked at: owner $4 until $5. */
  setLease: `UPDATE ${sessions} SET lease_owner = $2, lease_until = $3
      WHERE life = $1 AND lease_owner IS NOT DISTINCT FROM $4 AND lease_until IS NOT DISTINCT FROM $5
      RETURNING life`,
  release: `UPDATE ${sessions} SET lease_owner = NULL, lease_until = NULL WHERE life = $1 AND lease_owner = $2`,
  snapshot: `SELECT seq, digest, version, body, body_digest, seal FROM ${sessions} s
      LEFT JOIN ${snapshots} p ON p.life = s.life WHERE s.life = $1`,
  saveSnapshot: `INSERT INTO ${snapshots} (life, seq, digest, version, body, body_digest, seal, prefix_seq, prefix_sum)
      SELECT life, $2, $3, $4, $5, $6, $7, $8, $9 FROM ${sessions} WHERE life = $1
      ON CONFLICT (life) DO UPDATE SET seq = excluded.seq, digest = excluded.digest, version = excluded.version,
        body = excluded.body, body_digest = excluded.body_digest, seal = excluded.seal,
        prefix_seq = excluded.prefix_seq, prefix_sum = excluded.prefix_sum
      RETURNING life`,
  /** The checksum up to the last record, continued from the one up to record $2, which is $3. */
  prefix: `SELECT coalesce(max(seq), $2) AS seq, (${checksum} + $3::numeric)::text AS sum
      FROM ${records} WHERE life = $1 AND seq > $2`,
  /** One row when the session lives: up to which record there is a checksum, and whether it is still right. */
  isPrefixSame: `SELECT prefix_seq AS seq, prefix_sum AS sum, prefix_sum =
        (SELECT (${checksum})::text FROM ${records} r WHERE r.life = $1 AND r.seq <= prefix_seq) AS is_same
      FROM ${sessions} s LEFT JOIN ${snapshots} p ON p.life = s.life WHERE s.life = $1`,
});
