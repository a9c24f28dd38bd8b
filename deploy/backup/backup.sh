#!/usr/bin/env bash
# Makes a backup that is known to restore, and removes the oldest ones. Instructions: docs/backup.md.
#   BACKUP_FOLDER          where the backups are
#   BACKUP_KEEP            how many of them are kept (14)
#   BACKUP_EVERY_SECONDS   repeat instead of ending
#   PGHOST, PGUSER, PGPASSWORD, PGDATABASE ...: your own PostgreSQL, as a role that reads all rows and may create a database.
# Without PGHOST, it is the embedded database of DATA_DIR.
set -euo pipefail
: "${BACKUP_FOLDER:?is not set: the folder of the backups}"
keep=${BACKUP_KEEP:-14}
[[ $keep =~ ^[1-9][0-9]*$ ]] || { echo "BACKUP_KEEP is $keep. It must be a whole number from 1 on." >&2; exit 2; }
scratch=lanewise_restore_check

# Prints one line for each table: its name and its number of rows.
rows_of_tables="select format('select %L, count(*) from public.%I', relname, relname) from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace and relpersistence = 'p' order by relname \\gexec"

in_database() { psql --no-psqlrc --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 --dbname "$@"; }

# The dump and the rows are of one moment: the transaction exports its snapshot, and pg_dump reads it.
dump() {
  in_database "$PGDATABASE" <<SQL
begin isolation level repeatable read read only;
select pg_export_snapshot() as snapshot \\gset
\\setenv SNAPSHOT :snapshot
\\o '$work/rows'
$rows_of_tables
\\o
\\! pg_dump --snapshot="\$SNAPSHOT" --format=custom --file='$unfinished' "\$PGDATABASE" && touch '$work/dumped'
commit;
SQL
  [ -e "$work/dumped" ] || { echo 'pg_dump failed.' >&2; return 1; }
}

drop_scratch() {
  in_database postgres --command "set client_min_messages = warning" --command "drop database if exists $scratch with (force)"
}

verify() {
  drop_scratch
  in_database postgres --command "create database $scratch template template0"
  pg_restore --no-owner --no-privileges --exit-on-error --dbname="$scratch" "$unfinished"
  in_database "$scratch" > "$work/restored" <<<"$rows_of_tables"
  drop_scratch
  diff "$work/rows" "$work/restored" > "$work/difference" && return
  echo 'The restored backup has other numbers of rows (<: the database, >: the backup):' >&2
  cat "$work/difference" >&2
  return 1
}

own_postgres() {
  : "${PGDATABASE:=lanewise}"
  export PGDATABASE
  final=$BACKUP_FOLDER/lanewise-$stamp.dump
  unfinished=$final.unfinished
  rm -f "$BACKUP_FOLDER"/lanewise-*.unfinished
  dump
  verify
  sync "$unfinished"
  mv "$unfinished" "$final"
  echo "$final: $(awk -F'|' '{ rows += $2 } END { print NR " tables, " rows " rows" }' "$work/rows"), restored and compared."
}

# This command verifies its copy by itself.
embedded() { "$(dirname "$0")/../../node_modules/.bin/node" "$(dirname "$0")/../../server/src/operations/back-up-main.ts" "$BACKUP_FOLDER/lanewise-$stamp"; }

# Only a backup that was restored removes older ones.
remove_oldest() {
  find "$BACKUP_FOLDER" -mindepth 1 -maxdepth 1 -name 'lanewise-*' ! -name '*.unfinished' | sort -r | tail -n +$((keep + 1)) |
    while IFS= read -r oldest; do rm -rf "$oldest"; done
}

if [ -n "${BACKUP_EVERY_SECONDS:-}" ]; then
  trap 'exit 0' TERM INT
  while :; do
    # A process of its own: in a condition, bash ignores errors. A failed backup is tried again at the next time; the age of
    # last-verified tells.
    env -u BACKUP_EVERY_SECONDS "$BASH" "$0" || echo 'The backup failed. Older backups are unchanged.' >&2
    sleep "$BACKUP_EVERY_SECONDS" &
    wait $!
  done
fi
stamp=$(date -u +%Y%m%dT%H%M%SZ)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "${PGHOST:-}" ]; then own_postgres; else embedded; fi
remove_oldest
touch "$BACKUP_FOLDER/last-verified"
