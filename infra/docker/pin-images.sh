#!/bin/sh
# Writes lines for .env that pin every image of docker-compose.yml to the digest that its registry serves now:
#   infra/docker/pin-images.sh >>.env
# Compare the digests with those that the publishers of the images state. Needs Docker and the network.
set -eu
cd "$(dirname "$0")/../.."
sed -n 's/.*\${\([A-Z]*_IMAGE\):-\([^}]*\)}.*/\1 \2/p' docker-compose.yml | sort -u | while read -r variable image; do
  docker pull --quiet "$image" >&2
  digest=$(docker image inspect --format '{{index .RepoDigests 0}}' "$image")
  printf '%s=%s@%s\n' "$variable" "$image" "${digest#*@}"
done
