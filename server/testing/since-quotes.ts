/** The SQL of a migration before `0072-quotes.sql`, with the names that the tables and functions have since. */
export const sinceQuotes = (sql: string): string =>
  sql.replaceAll(
    /(?<!')\b(of_|event_|changed_|gone_|change_)?lane(s|_changes|_versions|s_undecided)?\b/g,
    (_, before = '', after = '') => `${before}quote${after}`,
  )
