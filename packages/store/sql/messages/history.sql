-- name: listBefore (prepared)
-- Messages and replies share the places of their chat, and both tables have an index on them.
SELECT author, left(text, {{maxTextChars}}) AS text, sources FROM (
  (SELECT seq, 'customer' AS author, text, NULL::jsonb AS sources FROM messages
   WHERE ticket_id = :ticket_id AND project_id = :project AND seq < :seq ORDER BY seq DESC LIMIT :limit)
  UNION ALL
  (SELECT seq, author, text, sources FROM replies
   WHERE ticket_id = :ticket_id AND project_id = :project AND seq < :seq AND type = 'message' ORDER BY seq DESC LIMIT :limit)
) AS said ORDER BY seq DESC LIMIT :limit;
