#!/bin/sh
# Runs the command line and every app, with the secrets that are mounted into this container (see secrets.sh).
use() { # use VARIABLE FILE: sets VARIABLE_FILE if the file is mounted and nothing else is set
  eval "value=\${$1:-}\${$1_FILE:-}"
  [ -n "$value" ] || [ ! -s "$2" ] || export "$1_FILE=$2"
}
use DATABASE_URL /secrets-of-apps/database-url
use DATABASE_DIRECT_URL /secrets-of-apps/database-direct-url
use REDIS_URL /secrets-of-apps/redis-url
use SVC_FILES_URL /secrets-of-apps/files-url
use SVC_SMTP_URL /secrets-of-apps/smtp-url
use SVC_SECRET_KEY /secrets-of-apps/secret-key
use OTEL_EXPORTER_OTLP_HEADERS /secrets-of-apps/otlp-headers
use SVC_ADMIN_KEY /secrets-of-administration/admin-key
use SVC_LLM_API_KEY /secrets-of-models/llm-api-key
use SVC_ANTHROPIC_API_KEY /secrets-of-models/anthropic-api-key
use SVC_EMBEDDINGS_API_KEY /secrets-of-models/embeddings-api-key
use SVC_OIDC_CLIENT_SECRET /secrets-of-console/oidc-client-secret
# Twice V8's default maximum semi-space size: under load, it collects garbage less often, which saves a tenth of the
# processor time. The memory is allocated only under load, up to 70 MB more for each busy thread.
exec node --max-semi-space-size=32 /app/apps/cli/dist/main.js "$@"
