-- fragment: messages
-- Gives each row of what waits, and stops at the limit before it looks for its chat.
SELECT greatest(m.created_at, m.not_before) AS at,
  c.channel_id = 'api' AND starts_with(coalesce(c.chat_id, ''), :issue_chat_prefix) AS is_issue
FROM (SELECT ticket_id, created_at, not_before FROM messages WHERE state = 'received' LIMIT {{lookMax}}) m
JOIN chats c ON c.ticket_id = m.ticket_id

-- name: depths
-- Each queue is read by the partial index of what is not done, so that this costs what waits and not what was done. It
-- locks nothing.
WITH received AS MATERIALIZED ({{messages}}), depth AS (
  {{waits}}
  UNION ALL {{waits2}}
  UNION ALL {{waits3}}
  UNION ALL {{waits4}}
  UNION ALL {{waits5}}
  UNION ALL {{waits6}}
  UNION ALL {{waits7}}
  UNION ALL {{waits8}}
)
SELECT depth.*, CASE queue
  WHEN 'messages' THEN {{countOf}}
  WHEN 'replies' THEN {{countOf2}}
  WHEN 'callbacks' THEN {{countOf3}}
  WHEN 'messenger_updates' THEN {{countOf4}}
END AS dead
FROM depth;
