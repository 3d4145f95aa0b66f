#!/bin/sh
# Fills the volumes of secrets before anything else starts, or shows the administrator's key:
#   secrets.sh make    writes secrets that are set in the environment, and creates those that are neither set nor stored yet
#   secrets.sh show    prints the administrator's key and Grafana's password
#   secrets.sh secret-key    prints the key that encrypts secrets; previous-secret-keys prints those that .env has replaced
# All secrets are in one folder that only this script can see. Each group of containers has a separate folder with copies
# of those it needs (SECRETS_OF and its name). Each secret is a file that only its owner can read, and is replaced
# atomically.
set -eu
umask 077
folder=${SECRETS_DIR:-/secrets}
copies=${SECRETS_OF:-/secrets-of-}

put() { # put FILE TEXT [MODE]
  printf '%s\n' "$2" >"$1.part" || { echo "secrets: cannot write $1. Check whether the disk is full and who owns the volume." >&2; exit 1; }
  chmod "${3:-400}" "$1.part"
  mv -f "$1.part" "$1"
}

random() { # 64 letters and digits, which need no escaping in a URL
  text=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
  [ "${#text}" = 64 ] || { echo 'secrets: this machine provides no random numbers' >&2; exit 1; }
  printf %s "$text"
}

keep() { # keep FILE [TEXT]: writes the text if given, otherwise keeps the existing one, otherwise creates one
  if [ -n "${2:-}" ]; then put "$folder/$1" "$2"
  elif [ ! -s "$folder/$1" ]; then put "$folder/$1" "$(random)"; echo "secrets: created $1"
  fi
}

keep_previous() { # before .env replaces the key that encrypts secrets: backups and the database are useless without it
  [ -s "$folder/secret-key" ] && [ -n "${SVC_SECRET_KEY:-}" ] || return 0
  previous=$(cat "$folder/secret-key")
  [ "$previous" != "$SVC_SECRET_KEY" ] || return 0
  name=secret-key.previous-$(date -u +%Y-%m-%dT%H-%M-%SZ)
  while [ -e "$folder/$name" ]; do name=$name-; done
  put "$folder/$name" "$previous"
  echo "secrets: SVC_SECRET_KEY has changed. The previous key is kept as $name. If the apps reject the new one, set" \
    'SVC_SECRET_KEY to the output of: docker compose run --rm secrets previous-secret-keys' >&2
}

given() { # given FILE TEXT: a secret of another service, which is never created; removed if it is no longer set
  if [ -n "$2" ]; then put "$folder/$1" "$2"; else rm -f "$folder/$1"; fi
}

share() { # share GROUP FILE…: copies secrets for a group; removes those that are no longer set
  group=$1; shift
  for name in "$@"; do
    if [ -s "$folder/$name" ]; then put "$copies$group/$name" "$(cat "$folder/$name")"; else rm -f "$copies$group/$name"; fi
  done
}

encode() { # percent-encodes a password for a URL
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
  given database-direct-url "${DATABASE_DIRECT_URL:-}"
  given files-url "${SVC_FILES_URL:-}"
  given smtp-url "${SVC_SMTP_URL:-}"
  given llm-api-key "${SVC_LLM_API_KEY:-}"
  given anthropic-api-key "${SVC_ANTHROPIC_API_KEY:-}"
  given embeddings-api-key "${SVC_EMBEDDINGS_API_KEY:-}"
  given oidc-client-secret "${SVC_OIDC_CLIENT_SECRET:-}"
  given otlp-headers "${OTEL_EXPORTER_OTLP_HEADERS:-}"
  share apps database-url database-direct-url redis-url files-url smtp-url secret-key otlp-headers
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
  [ -s "$folder/admin-key" ] || { echo 'secrets: not created yet; run: docker compose up -d' >&2; exit 1; }
  echo "Administrator's key:  $(cat "$folder/admin-key")"
  echo "Grafana password:     $(cat "$folder/grafana-password") (user admin)"
  echo "The key that encrypts secrets is not shown. To copy it for your backups: docker compose run --rm secrets secret-key"
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
  *) echo "secrets: unknown command $1; use make, show, secret-key or previous-secret-keys" >&2; exit 2 ;;
esac
