#!/bin/sh
# Backs up a PostgreSQL database, restores the copy into a scratch database on the same server, and compares the number of rows of
# every table with the moment of the copy. Only then the copy gets its final name, and the table installation a comment with the
# time, from which the service makes the metric lanewise_backup_verified_timestamp_seconds. The exit code is not 0 if any step
# failed. It needs psql, pg_dump and pg_restore of the server's version or newer, and a role that sees the rows of all
# brokerages: a superuser, or lanewise_backup (docs/backup.md). Not through a pooler. The secret key is not in the copy.
#
#   PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE ...   the server and the database, as for psql
#   BACKUP_FOLDER                                        where the copies go
#   BACKUP_KEEP                                          how many copies of this database stay (14)
set -eu
umask 077
: "${PGDATABASE:?name the database to back up}" "${BACKUP_FOLDER:?name a folder for the copies}"
case "${BACKUP_KEEP:=14}" in
  *[!0-9]* | 0*) echo "backup: BACKUP_KEEP must be a number of copies above 0, such as 14" >&2; exit 1 ;;
esac
# Dropped without a question, so it has a name that nobody gives to a database.
scratch="${PGDATABASE}_backup_check"
time=$(date -u +%Y-%m-%dT%H:%M:%SZ)
file="$BACKUP_FOLDER/$PGDATABASE-$(echo "$time" | tr -d ':-').dump"
export COPY="$file.unfinished"
# A copy takes as long as it takes: the timeouts of a role or database are for requests.
export PGOPTIONS='-c statement_timeout=0 -c idle_in_transaction_session_timeout=0'
ask() { psql --no-psqlrc --quiet --no-align --tuples-only --set=ON_ERROR_STOP=1 "$@"; }
drop_scratch() { ask --set=scratch="$scratch" <<'SQL'
set client_min_messages = warning;
drop database if exists :"scratch" with (force);
SQL
}
finish() {
  code=$?
  trap - EXIT
  rm -f "$COPY"
  drop_scratch || code=1
  if [ "$code" -ne 0 ]; then echo "backup: FAILED: there is no verified copy of $PGDATABASE from $time" >&2; fi
  exit "$code"
}
trap finish EXIT
trap 'exit 1' INT TERM

count_rows="select string_agg(format('select %L as name, count(*) from %s', oid::regclass, oid::regclass), ' union all ')
  || ' order by name' from pg_class
  where relkind in ('r', 'p') and relpersistence = 'p' and relnamespace = 'public'::regnamespace \\gexec"

# The counts and the copy see the same snapshot, while the service goes on writing.
copied=$(ask <<SQL
begin isolation level repeatable read read only;
select pg_export_snapshot() as snapshot \\gset
\\setenv SNAPSHOT :snapshot
\\! pg_dump --format=custom --snapshot="\$SNAPSHOT" --file="\$COPY" 1>&2 || rm -f "\$COPY"
$count_rows
commit;
SQL
)
[ -s "$COPY" ] || exit 1

drop_scratch
ask --set=scratch="$scratch" <<'SQL'
select format('create database %I owner %I template template0 encoding %L lc_collate %L lc_ctype %L',
  :'scratch', pg_get_userbyid(datdba), pg_encoding_to_char(encoding), datcollate, datctype)
from pg_database where datname = current_database() \gexec
revoke connect on database :"scratch" from public;
SQL
pg_restore --exit-on-error --dbname="$scratch" "$COPY"
restored=$(echo "$count_rows" | ask --dbname="$scratch")
if [ -z "$copied" ] || [ "$copied" != "$restored" ]; then
  printf 'backup: the copy has\n%s\nand the restored database\n%s\n' "$copied" "$restored" >&2
  exit 1
fi

mv "$COPY" "$file"
ask --set=remark="backup verified $time" <<'SQL'
comment on table installation is :'remark';
SQL
# Not -*.dump: copies of a database lanewise-staging are not those of lanewise.
ls "$BACKUP_FOLDER/$PGDATABASE"-????????T??????Z.dump | sort -r | tail -n "+$((BACKUP_KEEP + 1))" | while read -r old; do rm -f "$old"; done
echo "backup: $file was restored and compared: $(echo "$copied" | wc -l) tables, $(echo "$copied" | awk -F"|" '{ rows += $2 } END { print rows }') rows"
