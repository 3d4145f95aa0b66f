#!/bin/sh
# Before each start: makes `svc` a role without superuser rights that owns the database, with the password of the secrets.
# Converts a database of an earlier version, in which `svc` was the superuser. Safe to repeat.
set -eu
secrets=${SECRETS_OF_POSTGRES:-/secrets-of-postgres}
sql=${SQL_DIR:-/sql}
export PGDATABASE=svc PGCONNECT_TIMEOUT=10
ROLE_PASSWORD=$(cat "$secrets/postgres-password")
SUPERUSER_PASSWORD=$(cat "$secrets/postgres-superuser-password")
export ROLE_PASSWORD SUPERUSER_PASSWORD

waited=0
until pg_isready -q; do
  waited=$((waited + 1))
  [ $((waited % 60)) != 0 ] || echo "database-role: PostgreSQL does not accept connections yet; waiting" >&2
  sleep 0.5
done

can_connect() { PGUSER=$1 PGPASSWORD=$2 psql -X -q -c 'SELECT 1' >/dev/null 2>&1; }
if can_connect postgres "$SUPERUSER_PASSWORD"; then
  PGUSER=postgres PGPASSWORD=$SUPERUSER_PASSWORD
elif can_connect svc "$ROLE_PASSWORD"; then
  PGUSER=svc PGPASSWORD=$ROLE_PASSWORD
else
  echo 'database-role: PostgreSQL accepts neither the password of its superuser nor that of svc. If POSTGRES_PASSWORD in' \
    '.env was changed together with this upgrade, set the former one, run docker compose up -d, and change it afterwards.' >&2
  exit 1
fi
export PGUSER PGPASSWORD

# \getenv keeps passwords out of the list of processes.
psql -X -q -o /dev/null -v ON_ERROR_STOP=1 -1 -f - <<SQL
\\set QUIET on
\\getenv role_password ROLE_PASSWORD
\\getenv superuser_password SUPERUSER_PASSWORD
\\i $sql/separate-roles.sql
ALTER ROLE svc NOSUPERUSER PASSWORD :'role_password';
ALTER ROLE postgres PASSWORD :'superuser_password';
\\i $sql/own-objects.sql
SQL
echo 'database-role: ready'
