#!/usr/bin/env bash
# Tests docker-compose.yml from a clean state, with only the settings that separate it from other stacks: brings it up, has
# messages answered in each mode, over the widget's socket, by MCP and in a (fake) Telegram, scales, restarts each service
# under load, and takes it down. Grafana and Ollama are not started.
# Needs a Docker engine, docker-compose or the plugin, Node.js, and the repository built (npm run build).
#   BUILD_NETWORK=host   builds in the host's network, for hosts that reach registries only through a local proxy
#   SMOKE_IMAGE=1        uses the existing image svc:local instead of building one
set -euo pipefail
cd "$(dirname "$0")/.."
export COMPOSE_PROJECT_NAME=svc-smoke SVC_PUBLISH_HOST=127.0.0.1
# Ports of the helpers outside of the stack: a fake Bot API, a receiver of callbacks, and their control port.
bot_port=29990 receiver_port=29991 control_port=29992
export SVC_TELEGRAM_API_ROOT=http://host.docker.internal:$bot_port SVC_WEBHOOK_ALLOW=host.docker.internal
export SVC_PUBLIC_URLS=http://proxy:31417
work=$(mktemp -d)
compose_command=(docker-compose)
command -v docker-compose >/dev/null || compose_command=(docker compose)
compose() { "${compose_command[@]}" "$@"; }
svc() { compose exec -T api svc "$@"; }
outside_pid='' customer_pid=''
finish() {
  local status=$?
  trap - EXIT
  [ -z "$customer_pid" ] || kill "$customer_pid" 2>/dev/null || true
  [ -z "$outside_pid" ] || kill "$outside_pid" 2>/dev/null || true
  [ $status = 0 ] || compose logs --tail=40 || true
  compose down --volumes --remove-orphans --timeout 20 >/dev/null 2>&1 || true
  rm -rf "$work"
  exit $status
}
trap finish EXIT
fail() { echo "smoke: $*" >&2; exit 1; }
# until WHAT SECONDS COMMAND…: retries every half second.
until_true() {
  local what=$1 end=$((SECONDS + $2)); shift 2
  until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || fail "$what did not happen"; sleep 0.5; done
}

[ -f packages/testing/dist/index.js ] || fail "the repository is not built: npm run build"
if [ -z "${SMOKE_IMAGE:-}" ]; then
  echo "== build"
  docker build ${BUILD_NETWORK:+--network "$BUILD_NETWORK"} -f infra/docker/Dockerfile -t svc:local . >"$work/build.log" 2>&1 \
    || { tail -40 "$work/build.log"; fail "the image was not built"; }
fi
docker image inspect svc:local --format '{{.Size}}' | awk '{printf "image: %.0f MB", $1 / 1e6}'
docker history svc:local --format '{{.Size}}\t{{.CreatedBy}}' | awk -F'\t' '/COPY/ {print ", of which our own: " $1; exit}'

echo "== up, without settings"
compose down --volumes --remove-orphans --timeout 20 >/dev/null 2>&1 || true
started=$SECONDS
compose up -d --no-build >"$work/up.log" 2>&1 || { cat "$work/up.log"; fail "it did not come up"; }
api=http://127.0.0.1:31416
until_true "an answer of the HTTP API" 300 curl -fsS "$api/api/v1/health"
echo "up after $((SECONDS - started)) s"
key=$(compose run --rm secrets show 2>/dev/null | tr -d '\r' | sed -n "s/^Administrator's key: *//p")
[ "${#key}" = 64 ] || fail "the administrator's key was not printed"
published=$(docker ps --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --format '{{.Names}} {{.Ports}}' | grep -- '->' | cut -d' ' -f1 | grep -cv proxy || true)
[ "$published" = 0 ] || fail "something else than the proxy publishes ports"
post() { curl -sS "$api/api/v1/messages" -H "X-Api-Key: $key" -H 'Content-Type: application/json' "$@"; }

echo "== sync"
answer=$(post -d '{"text":"How do I send a message over the HTTP API?"}')
case "$answer" in *'"ok":true'*'"replies":[{'*) ;; *) fail "the sync message was not answered: $answer" ;; esac
echo "== async"
answer=$(post -d '{"text":"Can a message get lost?","chatId":"smoke-async","mode":"async"}')
case "$answer" in *'"status":"queued"'*) ;; *) fail "the async message was not taken: $answer" ;; esac
answer=$(curl -fsS "$api/api/v1/messages/smoke-async?wait=30000" -H "X-Api-Key: $key")
case "$answer" in *'"replies":[{'*) ;; *) fail "the drain is empty: $answer" ;; esac
echo "== a stream"
answer=$(post -N -H 'Accept: text/event-stream' -d '{"text":"What are the limits?"}')
case "$answer" in *event:*) ;; *) fail "no events came: $answer" ;; esac
echo "== a callback"
node infra/smoke/outside.mjs $bot_port $receiver_port $control_port & outside_pid=$!
control=http://127.0.0.1:$control_port
until_true "the start of what is outside" 20 curl -fsS "$control/token"
answer=$(post -d "{\"text\":\"What is a ticket?\",\"webhookUrl\":\"http://host.docker.internal:$receiver_port/hook\"}")
case "$answer" in *'"mode":"webhook"'*) ;; *) fail "the message with a callback was not taken: $answer" ;; esac
called() { curl -fsS "$control/callbacks" | grep -q '"body":"{'; }
until_true "the callback" 120 called

echo "== the widget, over a socket"
svc channels enable widget >/dev/null
widget_key=$(svc channels show widget --json | sed -n 's/.*"apiKey": *"\([^"]*\)".*/\1/p' | head -n 1)
until_true "an answer of the widget" 30 curl -fsS "http://127.0.0.1:31415/api/widget/config/$widget_key"
curl -fsS http://127.0.0.1:31415/widget.js >/dev/null
talk_over_socket() {
  compose exec -T api node -e '
    const [key, visitorId] = process.argv.slice(1);
    const socket = new WebSocket(`ws://proxy:31415/api/widget/ws?apiKey=${key}`);
    const send = (type, data) => socket.send(JSON.stringify({ type, data }));
    const replies = [];
    setTimeout(() => { console.error("not answered over the socket; replies so far:", replies); process.exit(1); }, 120_000).unref();
    socket.onopen = () => { send("hello", { visitorId, sinceSeq: 0 }); send("message", { text: "Can a message get lost?", clientMessageId: "smoke-1" }); };
    socket.onclose = ({ code }) => process.exit(replies.length === 2 ? 0 : (console.error("closed:", code), 1));
    socket.onmessage = ({ data: text }) => {
      const { type, seq } = JSON.parse(text);
      if (type !== "reply") return;
      replies.push(seq);
      if (replies.length === 1) send("message", { text: "What are the limits?", clientMessageId: "smoke-2" });
      if (replies.length === 2) socket.close();
    };
  ' "$widget_key" "$(cat /proc/sys/kernel/random/uuid)"
}
talk_over_socket

echo "== the tool server"
mcp() {
  curl -fsS http://127.0.0.1:31417/mcp -H "X-Api-Key: $key" -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2025-11-25' -d "$1"
}
tools=$(mcp '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | grep -o '"name":"svc_[a-z_]*"' | sort -u | wc -l)
[ "$tools" = 8 ] || fail "the tool server has $tools tools, not 8"
found=$(mcp '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"svc_search_kb","arguments":{"query":"Can a message get lost?"}}}')
case "$found" in *'"chunkId"'*) ;; *) fail "the search found nothing: $found" ;; esac
svc tools call svc_list_agents --url http://proxy:31417 >/dev/null

echo "== Telegram"
svc channels set messenger "botToken=$(curl -fsS "$control/token")" >/dev/null
svc channels enable messenger >/dev/null
curl -fsS "$control/write" -d 'Can a message get lost?' >/dev/null
sent() { curl -fsS "$control/sent" | grep -q '"text":'; }
until_true "an answer in Telegram" 180 sent

echo "== the console"
curl -fsS http://127.0.0.1:31418/ | grep -qi '<!doctype html' || fail "the console shows no page"
svc operators link 2>&1 | grep -q '#' || fail "no link for the first administrator"

echo "== several replicas"
compose up -d --no-build --no-recreate --scale api=3 --scale pipeline=4 --scale widget=3 >"$work/up.log" 2>&1 \
  || { cat "$work/up.log"; fail "it was not scaled"; }
services=(api pipeline widget messenger tool-server console)
all_healthy() {
  ! docker ps -a --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --format '{{.Status}}' | grep -v '^Exited (0)' | grep -qv '(healthy)'
}
until_true "the readiness of every replica" 300 all_healthy
replicas=$(docker ps --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --format '{{.Names}}' | grep -Ec '(api|widget|pipeline)[_-][0-9]')
[ "$replicas" = 10 ] || fail "$replicas replicas run, not 10"
for _ in 1 2 3 4; do talk_over_socket; done
# HTTP polling of socket.io keeps its connection in one process: each request must reach it.
engine="http://127.0.0.1:31415/api/widget/ws/?EIO=4&transport=polling&apiKey=$widget_key"
for _ in 1 2 3 4 5 6; do
  id=$(curl -sS "$engine" | sed -n 's/.*"sid":"\([^"]*\)".*/\1/p')
  [ -n "$id" ] || fail "socket.io over plain HTTP does not begin"
  [ "$(curl -sS -o /dev/null -w '%{http_code}' -d '40' "$engine&sid=$id")" = 200 ] || fail "socket.io over plain HTTP loses its connection"
done
for _ in 1 2 3 4 5 6; do post -d '{"text":"What is a ticket?"}' | grep -q '"replies":\[{' || fail "a message was not answered by several replicas"; done

echo "== each service restarted under load"
# No request gets 429 because all of them come from one address.
free_key=$(svc keys create smoke --scope messages:write --scope messages:read --rate-limit none --json | sed -n 's/.*"key": *"\([^"]*\)".*/\1/p' | head -n 1)
[ -n "$free_key" ] || fail "no key was made"
API_KEY=$free_key node infra/smoke/careful-customer.mjs "$api" & customer_pid=$!
for service in pipeline api widget tool-server messenger console redis postgres proxy; do
  compose restart --timeout 20 "$service" >/dev/null 2>&1 || fail "$service did not restart"
  until_true "the readiness after the restart of $service" 300 all_healthy
  echo "   $service"
done
kill "$customer_pid"
wait "$customer_pid" || fail "messages were lost or doubled"
customer_pid=''
svc doctor || fail "doctor found problems"

echo "== readiness and memory"
# Runs the check of the compose file now instead of waiting for its next interval.
for container in $(docker ps --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --format '{{.Names}}' | grep -E "[_-]($(IFS='|'; echo "${services[*]}"))[_-][0-9]"); do
  docker exec "$container" bash -c "$(docker inspect --format '{{index .Config.Healthcheck.Test 3}}' "$container")" || fail "$container is not ready"
done
docker stats --no-stream --format '   {{.Name}} {{.MemUsage}}' | grep "$COMPOSE_PROJECT_NAME" || true

echo "== down"
kill "$outside_pid"; wait "$outside_pid" || true; outside_pid=''
compose stop --timeout 20 >/dev/null 2>&1
bad=$(docker ps -a --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --format '{{.Names}} {{.Status}}' | grep -v 'Exited (0)' || true)
# PostgreSQL and Redis exit with 0; so does every app that shut down in time.
[ -z "$bad" ] || fail "did not stop cleanly: $bad"
echo "smoke: passed"
