-- fragment: columns
id, name, prefix, scopes, project_id AS project, created_at, created_by, expires_at, last_used_at, revoked_at, rate_limit

-- fragment: named_columns
-- The columns of a NamedApiKey.
{{columns}}, (SELECT p.name FROM projects p WHERE p.id = project_id) AS project_name

-- fragment: is_seen
-- SQL that is true for keys that are shown: not those of deleted projects.
NOT EXISTS (SELECT 1 FROM projects d WHERE d.id = project_id AND d.deleted_at IS NOT NULL)

-- name: findLiveByHash (prepared)
-- The live key with this SHA-256 (not revoked, not expired), or null.
SELECT {{columns}} FROM api_keys
WHERE hash = :hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now());

-- name: insert
-- Revokes an expired key with this hash, so that the key can be added again. Locks the rows of api_keys that it writes.
UPDATE api_keys SET revoked_at = now() WHERE hash = :hash AND revoked_at IS NULL AND expires_at <= now();

-- name: insertKey
-- Inserts an API key. Locks the rows of api_keys that it writes.
INSERT INTO api_keys (id, name, prefix, hash, scopes, project_id, created_by, expires_at, rate_limit)
VALUES (:id, :name, :prefix, :hash, :scopes, :project, :created_by, :expires_at, :rate_limit)
ON CONFLICT (hash) WHERE revoked_at IS NULL DO NOTHING RETURNING {{columns}};

-- name: find
-- The key with this id, valid or not, or null.
SELECT {{named_columns}} FROM api_keys WHERE id = :id AND {{is_seen}};

-- name: listPage
-- Keys of all projects, valid or not, newest first: those created before the key with id `before`, and with `q` in the
-- name (in any case) or at the start of the prefix. strpos has no wildcards, unlike LIKE.
SELECT {{named_columns}} FROM api_keys
WHERE {{is_seen}} AND (:before::uuid IS NULL OR id < :before)
  AND (:q::text IS NULL OR strpos(lower(name), lower(:q)) > 0 OR starts_with(prefix, :q))
ORDER BY id DESC LIMIT :limit;

-- name: rotate
-- Creates another key with the name, scopes, project, limit and expiry of a valid one, which expires after
-- `overlapSeconds`, or is revoked if that is 0. It is one statement, so that the two changes are atomic. It reads the
-- old row as it was before. Locks the rows of api_keys that it reads.
WITH old AS (
  SELECT * FROM api_keys WHERE id = :id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
  FOR UPDATE
), ended AS (
  UPDATE api_keys k
  SET is_rotated = true, successor_expires_at = CASE WHEN k.is_rotated THEN k.successor_expires_at
    ELSE k.expires_at END,
      revoked_at = CASE WHEN :overlap_seconds::integer = 0 THEN now() END,
      expires_at = CASE WHEN :overlap_seconds = 0 THEN k.expires_at
                        ELSE least(k.expires_at, now() + :overlap_seconds * interval '1 second') END
  FROM old WHERE k.id = old.id
)
INSERT INTO api_keys (id, name, prefix, hash, scopes, project_id, created_by, expires_at, rate_limit)
SELECT :id2, name, :prefix, :hash, scopes, project_id, :created_by,
  CASE WHEN is_rotated THEN successor_expires_at ELSE expires_at END, rate_limit FROM old
RETURNING {{named_columns}};

-- name: listLiveCreatedBy
-- The valid keys that one creator has created, newest first.
SELECT {{columns}} FROM api_keys WHERE created_by = :created_by AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > now()) ORDER BY created_at DESC;

-- name: hasLiveAdminBeside
-- Returns a row if there is a valid administrator key that none of these creators has created.
SELECT 1 FROM api_keys WHERE 'admin:*' = ANY (scopes) AND revoked_at IS NULL AND created_by <> ALL (:makers::text[])
AND (expires_at IS NULL OR expires_at > now()) LIMIT 1;

-- name: revoke
-- Revokes a key. Locks the rows of api_keys that it writes.
UPDATE api_keys SET revoked_at = now() WHERE id = :id AND revoked_at IS NULL RETURNING id;

-- name: revokeOthersOf
-- Revokes all keys of a creator except the one with this hash. Locks the rows of api_keys that it writes.
UPDATE api_keys SET revoked_at = now() WHERE created_by = :created_by AND hash <> :hash
  AND revoked_at IS NULL RETURNING id;

-- name: touch
-- Records the last use of keys, to the minute. Locks the rows of api_keys that it writes.
UPDATE api_keys SET last_used_at = now()
WHERE id = ANY (:ids::uuid[]) AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute');
