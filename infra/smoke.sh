#!/usr/bin/env bash
# Tries docker-compose.yml for real: builds, starts from a clean state, has a message answered over the HTTP API and over
# the widget's socket, has tools called by MCP, and takes it down.
# Needs a Docker engine and docker-compose. BUILD_NETWORK=host builds with the network of the host, for hosts that reach
# package registries through a proxy of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
export COMPOSE_PROJECT_NAME=svc-smoke POSTGRES_PASSWORD=smoke-postgres-password SVC_SECRET_KEY=smoke-secret-key-0123456789abcdefghij
export SVC_ADMIN_KEY=smoke-admin-key-0123456789 SVC_PUBLIC_URLS=http://tool-server:31417
override=$(mktemp --suffix=.yml)
files=(-f docker-compose.yml -f "$override")
compose() { docker-compose "${files[@]}" "$@"; }
down() { compose down --volumes --remove-orphans --timeout 20 || true; rm -f "$override"; }
trap 'status=$?; [ $status = 0 ] || compose logs --tail=40 || true; down; exit $status' EXIT

{
  echo 'version: "3.8"'
  echo 'services:'
  for service in migrate api pipeline widget messenger tool-server console; do
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
echo "== the widget"
svc() { compose exec -T api node apps/cli/dist/main.js "$@"; }
svc channels enable widget
widget_key=$(svc channels show widget --json | sed -n 's/.*"apiKey": *"\([^"]*\)".*/\1/p' | head -n 1)
for _ in $(seq 30); do
  if curl -fsS "http://127.0.0.1:31415/api/widget/config/$widget_key" 2>/dev/null; then echo; break; fi
  sleep 1
done
curl -fsS http://127.0.0.1:31415/widget.js >/dev/null
# The visitor's message over HTTP, its reply over a socket from another container.
visitor=$(cat /proc/sys/kernel/random/uuid)
curl -fsS http://127.0.0.1:31415/api/widget/message -H "X-Api-Key: $widget_key" -H "X-Visitor-Id: $visitor" \
  -H 'Content-Type: application/json' -d '{"text":"Can a message get lost?","clientMessageId":"smoke-1"}'; echo
compose exec -T api node -e '
  const [key, visitorId] = process.argv.slice(1);
  const socket = new WebSocket(`ws://widget:31415/api/widget/ws?apiKey=${key}`);
  const send = (type, data) => socket.send(JSON.stringify({ type, data }));
  const replies = [];
  setTimeout(() => { console.error("no reply over the socket"); process.exit(1); }, 30_000).unref();
  socket.onopen = () => send("hello", { visitorId, sinceSeq: 0 });
  socket.onclose = ({ code }) => process.exit(replies.length === 2 ? 0 : (console.error("closed:", code), 1));
  socket.onmessage = ({ data: text }) => {
    const { type, seq, data } = JSON.parse(text);
    if (type !== "reply") return;
    replies.push(seq);
    console.log("reply", seq, data.author, data.items[0]?.text?.slice(0, 80));
    if (replies.length === 1) send("message", { text: "What are the limits?", clientMessageId: "smoke-2" });
    if (replies.length === 2) socket.close();
  };
' "$widget_key" "$visitor"
status=$(curl -sS -o /dev/null -w '%{http_code}' http://127.0.0.1:31415/)
[ "$status" = 404 ] || { echo "the demo page is shown in production ($status)" >&2; exit 1; }
echo "== the tool server"
mcp() {
  curl -fsS http://127.0.0.1:31417/mcp -H "X-Api-Key: $SVC_ADMIN_KEY" -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2025-11-25' -d "$1"
}
tools=$(mcp '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | grep -o '"name":"svc_[a-z_]*"' | sort -u)
echo "$tools"
[ "$(wc -l <<<"$tools")" = 8 ] || { echo 'the tool server does not have its eight tools' >&2; exit 1; }
found=$(mcp '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"svc_search_kb","arguments":{"query":"Can a message get lost?"}}}')
case "$found" in *'"chunkId"'*) ;; *) echo "the search found nothing: $found" >&2; exit 1 ;; esac
svc tools call svc_list_agents --url http://tool-server:31417
echo "== readiness of every app"
for service in api pipeline widget messenger tool-server console; do
  compose exec -T "$service" node -e \
    "fetch('http://127.0.0.1:9464/readyz').then(async (a) => { console.log('$service', a.status, await a.text()); process.exit(a.ok ? 0 : 1); })"
done
echo "== the command line inside"
svc ask "What is a ticket?"
echo "== down"
compose stop --timeout 20
compose ps
echo "smoke: passed"
