#!/usr/bin/env bash
# Tries docker-compose.yml for real: builds, starts from a clean state, has one message answered, takes it down.
# Needs a Docker engine and docker-compose. BUILD_NETWORK=host builds with the network of the host, for hosts that reach
# package registries through a proxy of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
export COMPOSE_PROJECT_NAME=svc-smoke POSTGRES_PASSWORD=smoke-postgres-password SVC_SECRET_KEY=smoke-secret-key-0123456789abcdefghij
export SVC_ADMIN_KEY=smoke-admin-key-0123456789
override=$(mktemp --suffix=.yml)
files=(-f docker-compose.yml -f "$override")
compose() { docker-compose "${files[@]}" "$@"; }
down() { compose down --volumes --remove-orphans --timeout 20 || true; rm -f "$override"; }
trap 'status=$?; [ $status = 0 ] || compose logs --tail=40 || true; down; exit $status' EXIT

{
  echo 'version: "3.8"'
  echo 'services:'
  for service in migrate api pipeline; do
    printf '  %s:\n    build:\n      context: .\n      dockerfile: infra/docker/Dockerfile\n' "$service"
    [ -z "${BUILD_NETWORK:-}" ] || printf '      network: %s\n' "$BUILD_NETWORK"
  done
} >"$override"

echo "== build"
compose build api
echo "image size: $(docker image inspect "svc:${SVC_VERSION:-local}" --format '{{.Size}}' | awk '{printf "%.0f MB", $1 / 1e6}')"
echo "== up"
compose up -d --no-build
for _ in $(seq 90); do
  if curl -fsS http://127.0.0.1:31416/api/v1/health >/dev/null 2>&1; then break; fi
  sleep 1
done
echo "== health"
curl -fsS http://127.0.0.1:31416/api/v1/health -H "X-Api-Key: $SVC_ADMIN_KEY"; echo
echo "== one message"
answer=$(curl -fsS http://127.0.0.1:31416/api/v1/messages -H "Authorization: Bearer $SVC_ADMIN_KEY" \
  -H 'Content-Type: application/json' -d '{"text":"How do I send a message over the HTTP API?"}')
echo "$answer"
case "$answer" in *'"ok":true'*'"replies":[{'*) ;; *) echo 'the message was not answered' >&2; exit 1 ;; esac
echo "== readiness of every app"
for service in api pipeline; do
  compose exec -T "$service" node -e \
    "fetch('http://127.0.0.1:9464/readyz').then(async (a) => { console.log('$service', a.status, await a.text()); process.exit(a.ok ? 0 : 1); })"
done
echo "== the command line inside"
compose exec -T api node apps/cli/dist/main.js ask "What is a ticket?"
echo "== down"
compose stop --timeout 20
compose ps
echo "smoke: passed"
