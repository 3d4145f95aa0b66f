#!/bin/sh
# Fills the volumes of secrets before anything else starts, or shows the administrator's key:
#   secrets.sh make    what the environment names is written as it is; what it does not name and is not there yet is made
#   secrets.sh show    the administrator's key, and the password of Grafana
#   secrets.sh secret-key    the key that seals secrets; previous-secret-keys shows those that .env has replaced
# Everything is kept in one folder, which only this script sees. Each group of containers has a folder of its own with
# copies of what it needs (SECRETS_OF and its name). Each secret is a file that only its owner can read, and is replaced
# whole, so that no reader gets half of one.
set -eu
umask 077
folder=${SECRETS_DIR:-/secrets}
copies=${SECRETS_OF:-/secrets-of-}

put() { # put FILE TEXT [MODE]
  printf '%s\n' "$2" >"$1.part" || { echo "secrets: cannot write $1: is the disk full, or the volume another user's?" >&2; exit 1; }
  chmod "${3:-400}" "$1.part"
  mv -f "$1.part" "$1"
}

random() { # 64 letters and digits, which need no escaping in a URL
  text=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
  [ "${#text}" = 64 ] || { echo 'secrets: this machine gives no random numbers' >&2; exit 1; }
  printf %s "$text"
}

keep() { # keep FILE [TEXT]: the text when there is one, else what is there, else a new one
  if [ -n "${2:-}" ]; then put "$folder/$1" "$2"
  elif [ ! -s "$folder/$1" ]; then put "$folder/$1" "$(random)"; echo "secrets: made $1"
  fi
}

keep_previous() { # before .env replaces the key that seals secrets: without that key no backup and no database can be read
  [ -s "$folder/secret-key" ] && [ -n "${SVC_SECRET_KEY:-}" ] || return 0
  previous=$(cat "$folder/secret-key")
  [ "$previous" != "$SVC_SECRET_KEY" ] || return 0
  name=secret-key.previous-$(date -u +%Y-%m-%dT%H-%M-%SZ)
  while [ -e "$folder/$name" ]; do name=$name-; done
  put "$folder/$name" "$previous"
  echo "secrets: SVC_SECRET_KEY is another key than before. The one before is kept as $name. When the apps refuse the new" \
    'one, set SVC_SECRET_KEY to what this shows: docker compose run --rm secrets previous-secret-keys' >&2
}

given() { # given FILE TEXT: of another service, so that none is made; removed when it is not set any more
  if [ -n "$2" ]; then put "$folder/$1" "$2"; else rm -f "$folder/$1"; fi
}

share() { # share GROUP FILE…: the group's copies; what is no longer set is removed there too
  group=$1; shift
  for name in "$@"; do
    if [ -s "$folder/$name" ]; then put "$copies$group/$name" "$(cat "$folder/$name")"; else rm -f "$copies$group/$name"; fi
  done
}

encode() { # a password as it stands in a URL
  printf %s "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g'
}

make() {
  keep postgres-password "${POSTGRES_PASSWORD:-}"
  keep postgres-superuser-password
  keep redis-password
  keep_previous
  keep secret-key "${SVC_SECRET_KEY:-}"
  keep admin-key "${SVC_ADMIN_KEY:-}"
  keep grafana-password "${GRAFANA_PASSWORD:-}"
  put "$folder/database-url" \
    "${DATABASE_URL:-postgres://svc:$(encode "$(cat "$folder/postgres-password")")@postgres:5432/svc}"
  put "$folder/redis-url" "${REDIS_URL:-redis://:$(cat "$folder/redis-password")@redis:6379}"
  given llm-api-key "${SVC_LLM_API_KEY:-}"
  given anthropic-api-key "${SVC_ANTHROPIC_API_KEY:-}"
  given embeddings-api-key "${SVC_EMBEDDINGS_API_KEY:-}"
  given oidc-client-secret "${SVC_OIDC_CLIENT_SECRET:-}"
  given otlp-headers "${OTEL_EXPORTER_OTLP_HEADERS:-}"
  share apps database-url redis-url secret-key otlp-headers
  share administration admin-key
  share models llm-api-key anthropic-api-key embeddings-api-key
  share console oidc-client-secret
  share postgres postgres-password postgres-superuser-password
  share redis redis-password
  # Grafana runs as another user.
  put "${copies}grafana/password" "$(cat "$folder/grafana-password")" 444
  echo 'secrets: ready'
}

show() {
  [ -s "$folder/admin-key" ] || { echo 'secrets: there are none yet; run: docker compose up -d' >&2; exit 1; }
  echo "Administrator's key:  $(cat "$folder/admin-key")"
  echo "Password of Grafana:  $(cat "$folder/grafana-password") (user admin)"
  echo "The key that seals secrets is not shown; copy it for your backups: docker compose run --rm secrets secret-key"
}

case "${1:-make}" in
  make) make ;;
  show) show ;;
  secret-key) cat "$folder/secret-key" ;;
  previous-secret-keys)
    for file in "$folder"/secret-key.previous-*; do
      [ ! -f "$file" ] || printf '%s  %s\n' "${file##*/}" "$(cat "$file")"
    done
    ;;
  *) echo "secrets: $1 is none of make, show, secret-key, previous-secret-keys" >&2; exit 2 ;;
esac
