#!/bin/sh
# Installs the packages that are missing, then becomes the given command:
#   sh scripts/run.sh --without-tools node server/src/main.ts
# An option before the command is for scripts/install.mjs. `env` looks for Node anew, because the install may have
# brought it: the shell would use the Node that it found first.
option=
case $1 in --*) option=$1; shift ;; esac
node scripts/install.mjs $option || exit
exec env "$@"
