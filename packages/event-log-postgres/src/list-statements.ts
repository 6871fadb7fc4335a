/** The SQL statements that list sessions. */
export type ListStatements = Readonly<
  Record<"list" | "page" | "pageOfUsers" | "called" | "withoutKeys" | "setKeys", string>
>;

/** The statements for the names of two tables. */
export function listStatementsOf(sessions: string, records: string): ListStatements {
  const head = `(SELECT max(seq) FROM ${records} r WHERE r.generation = s.generation) AS head`;
  return {
    list: `SELECT id, header, ${head} FROM ${sessions} s`,
    page: `SELECT id, header, ${head} FROM ${sessions} s WHERE id > $1 ORDER BY id LIMIT $2`,
    /** The first sessions of each user, from the index, and of these the first ones. */
    pageOfUsers: `SELECT id, header, ${head} FROM (
        SELECT own.* FROM unnest($1::text[]) AS wanted (key) CROSS JOIN LATERAL
          (SELECT generation, id, header FROM ${sessions} WHERE user_key = wanted.key AND id > $2 ORDER BY id LIMIT $3) own
        ORDER BY own.id LIMIT $3) s
      ORDER BY id`,
    called: `SELECT id, header, ${head} FROM ${sessions} s
      WHERE caller_key >= $1 AND caller_key < $2 ORDER BY id`,
    withoutKeys: `SELECT generation, header FROM ${sessions} WHERE user_key IS NULL ORDER BY generation LIMIT 200`,
    setKeys: `UPDATE ${sessions} s SET user_key = new.user_key, caller_key = new.caller_key
      FROM unnest($1::uuid[], $2::text[], $3::text[]) AS new (generation, user_key, caller_key)
      WHERE s.generation = new.generation`,
  };
}
