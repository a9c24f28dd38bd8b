#!/bin/sh
# Builds Citus for the PostgreSQL of pg_config and installs it there, for `npm run prove:cluster`.
#
# Needs pg_config with the server's headers (Debian: postgresql-server-dev-15), a C compiler, make, flex, git, and the headers of
# OpenSSL, lz4, zstd, readline, libxml2, libxslt, PAM, Kerberos and libselinux. Installing usually needs root.
#
#   sh scripts/build-citus.sh                    clones Citus from GitHub
#   sh scripts/build-citus.sh /path/to/citus     uses a clone that you have
set -eu
version=v13.2.2
source=${1:-https://github.com/citusdata/citus}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "Citus $version for $(pg_config --version), from $source"
git clone --quiet --depth 1 --branch "$version" "$source" "$folder/citus"
cd "$folder/citus"
# Newer releases of PostgreSQL 15 declare a function that Citus defines for older ones.
if grep -q have_createdb_privilege "$(pg_config --includedir-server)/commands/dbcommands.h"; then
  sed -i 's/^have_createdb_privilege(void)$/unused_have_createdb_privilege(void)/' src/include/pg_version_compat.h
fi
./configure --quiet --without-libcurl PG_CONFIG="$(command -v pg_config)"
make --silent -j "$(getconf _NPROCESSORS_ONLN)"
make --silent install
echo "Installed in $(pg_config --pkglibdir) and $(pg_config --sharedir)/extension."
