#!/bin/sh
# The command line and every app, with the keys of other services that the folder of secrets holds (see secrets.sh).
for name in LLM_API_KEY ANTHROPIC_API_KEY EMBEDDINGS_API_KEY OIDC_CLIENT_SECRET; do
  file=/secrets/$(printf %s "$name" | tr 'A-Z_' 'a-z-')
  [ ! -s "$file" ] || export "SVC_${name}_FILE=$file"
done
[ ! -s /secrets/otlp-headers ] || export OTEL_EXPORTER_OTLP_HEADERS_FILE=/secrets/otlp-headers
exec node /app/apps/cli/dist/main.js "$@"
