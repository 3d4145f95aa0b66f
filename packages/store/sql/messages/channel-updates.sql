-- fragment: album_wait
-- The parts of an album arrive one by one: its first part waits this long for the others.
interval '1 second'

-- fragment: columns
u.project_id, u.bot_id, u.update_id, u.ticket_id, u.message_id, u.chat_id, u.body, u.album_id, u.tries, u.received_at

-- fragment: settled_kept
-- Telegram stores an update for a day; it cannot arrive again after that.
interval '2 days'

-- fragment: unsettled_kept
-- Dead updates, and updates of a bot that is not configured any more, are deleted after this time.
interval '30 days'

-- name: insert
-- Stores updates of a bot, each once. An update that is not a message is recorded as ignored. Locks the rows of
-- messenger_updates that it writes.
INSERT INTO messenger_updates (
  bot_id, update_id, project_id, ticket_id, message_id, state, chat_id, user_id, body, excerpt, album_id, next_at,
  settled_at
)
SELECT :bot_id, i.update_id, :project, i.ticket_id, i.message_id,
  CASE WHEN i.ticket_id IS NULL THEN 'ignored' ELSE 'waiting' END,
  i.chat_id, i.user_id, CASE WHEN i.ticket_id IS NOT NULL THEN i.body END,
  CASE WHEN i.ticket_id IS NOT NULL THEN i.excerpt END, i.album_id,
  CASE WHEN i.album_id IS NULL THEN now() ELSE now() + {{album_wait}} END,
  CASE WHEN i.ticket_id IS NULL THEN now() END
FROM unnest(:update_id::bigint[], :ticket_id::uuid[], :message_id::uuid[], :chat_id::text[], :user_id::text[],
  :body::text[], :excerpt::text[], :album_id::text[])
  AS i (update_id, ticket_id, message_id, chat_id, user_id, body, excerpt, album_id)
ORDER BY i.update_id
ON CONFLICT (bot_id, update_id) DO NOTHING
RETURNING 1;

-- name: listHeads (prepared)
-- Walks the index from conversation to conversation, so that a long backlog of one costs no more than its first update.
-- The parts of a joined album are processed with its first one. Read-only, since one process at a time processes the
-- updates of a bot.
WITH RECURSIVE chat AS (
  (SELECT ticket_id FROM messenger_updates
   WHERE bot_id = :bot_id AND state = 'waiting' ORDER BY ticket_id LIMIT 1)
  UNION ALL
  SELECT (
    SELECT u.ticket_id FROM messenger_updates u
    WHERE u.bot_id = :bot_id AND u.state = 'waiting' AND u.ticket_id > c.ticket_id ORDER BY u.ticket_id LIMIT 1
  ) FROM chat c WHERE c.ticket_id IS NOT NULL
)
SELECT {{columns}} FROM chat c CROSS JOIN LATERAL (
  SELECT * FROM messenger_updates w
  WHERE w.bot_id = :bot_id AND w.ticket_id = c.ticket_id AND w.state = 'waiting'
    AND (w.joined_to IS NULL OR w.joined_to = w.update_id)
  ORDER BY w.update_id LIMIT 1
) u
WHERE c.ticket_id <> ALL (:busy_ticket_ids::uuid[]) AND u.next_at <= now()
ORDER BY u.update_id LIMIT :limit;

-- name: isWaiting (prepared)
-- Returns a row if an update still waits: its author may have been erased since it was listed.
SELECT 1 FROM messenger_updates WHERE bot_id = :bot_id AND update_id = :update_id AND state = 'waiting';

-- name: finish (prepared)
-- Records the results of updates, and deletes their content. Locks the rows of messenger_updates that it writes.
UPDATE messenger_updates SET state = :state, settled_at = now(), chat_id = NULL, user_id = NULL, body = NULL,
  excerpt = NULL, failure = NULL
WHERE bot_id = :bot_id AND update_id = ANY (:update_ids::bigint[]) AND state = 'waiting';

-- name: retryLater
-- Postpones an update, and with it the later ones of its conversation. Locks the rows of messenger_updates that it
-- writes.
UPDATE messenger_updates SET next_at = now() + :delay_ms * interval '1 millisecond', failure = :failure,
  tries = tries + :counted
WHERE bot_id = :bot_id AND update_id = :update_id AND state = 'waiting';

-- name: markDead
-- Marks updates as dead: they wait for an operator, and the conversation continues without them. Locks the rows of
-- messenger_updates that it writes.
UPDATE messenger_updates SET state = 'dead', settled_at = now(), failure = :failure, tries = tries + 1
WHERE bot_id = :bot_id AND update_id = ANY (:update_ids::bigint[]) AND state = 'waiting';

-- name: listDead
-- The dead updates of a project, newest first, at most `limit`.
SELECT message_id, ticket_id, chat_id, excerpt, failure, settled_at FROM messenger_updates
WHERE project_id = :project AND state = 'dead' AND (joined_to IS NULL OR joined_to = update_id)
ORDER BY settled_at DESC LIMIT :limit;

-- name: retryDead
-- Retries a dead update, with the rest of its album, with five new attempts. Locks the rows of messenger_updates that
-- it reads.
WITH first AS (
  SELECT bot_id, update_id FROM messenger_updates
  WHERE project_id = :project AND message_id = :message_id AND state = 'dead' FOR UPDATE
)
UPDATE messenger_updates u SET state = 'waiting', settled_at = NULL, tries = 0, next_at = now()
FROM first f
WHERE u.project_id = :project AND u.state = 'dead' AND u.bot_id = f.bot_id
  AND (u.update_id = f.update_id OR u.joined_to = f.update_id)
RETURNING 1;

-- name: prune
-- Deletes updates that can no longer arrive again, and dead ones after a month. Locks the rows of messenger_updates
-- that it writes.
DELETE FROM messenger_updates WHERE (bot_id, update_id) IN (
  (SELECT bot_id, update_id FROM messenger_updates
   WHERE state <> 'waiting' AND settled_at < now() - {{settled_kept}}
     AND (state <> 'dead' OR settled_at < now() - {{unsettled_kept}})
   LIMIT {{prunePage}})
  UNION ALL
  (SELECT bot_id, update_id FROM messenger_updates
   WHERE state = 'waiting' AND received_at < now() - {{unsettled_kept}} LIMIT {{prunePage}})
) RETURNING state IN ('waiting', 'dead') AS is_unanswered;

-- name: findMessage
-- The newest message of a conversation that was created from this Telegram message, if it is recent.
SELECT text, channel_meta FROM (
  SELECT seq, text, channel_meta FROM messages
  WHERE ticket_id = :ticket_id AND project_id = :project ORDER BY seq DESC LIMIT 200
) m
WHERE channel_meta #>> '{telegram,messageId}' = :telegram_message_id
ORDER BY seq DESC LIMIT 1;

-- name: joinAlbum
-- Joins all waiting parts of an album to its first part. Locks the rows of this album alone, which only one process
-- works on.
UPDATE messenger_updates p SET joined_to = f.update_id
FROM messenger_updates f
WHERE f.bot_id = :bot_id AND f.update_id = :update_id AND f.joined_to IS NULL AND f.state = 'waiting'
  AND p.bot_id = f.bot_id AND p.ticket_id = f.ticket_id AND p.album_id = f.album_id AND p.state = 'waiting'
  AND p.update_id >= f.update_id;

-- name: listAlbum
-- The joined parts of an album, in order.
SELECT {{columns}} FROM messenger_updates f JOIN messenger_updates u
  ON u.bot_id = f.bot_id AND u.ticket_id = f.ticket_id AND u.state = 'waiting' AND u.joined_to = f.update_id
WHERE f.bot_id = :bot_id AND f.update_id = :update_id ORDER BY u.update_id;
