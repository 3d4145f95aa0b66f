-- name: listMatches
-- Reads one more than are looked up one by one, which shows whether the words are frequent.
SELECT ticket_id FROM ticket_texts WHERE document @@ :text::tsquery AND project_id = :project LIMIT {{maxMatches1}};

-- name: listFresh
-- Tickets whose row in ticket_list may be outdated: those with events of the last second or two that were not followed
-- yet, and those that are being processed. Both are read from the end of an index.
SELECT DISTINCT ticket_id FROM (
  (SELECT ticket_id FROM ticket_events WHERE id > (SELECT settled_id FROM ticket_index)
   ORDER BY id DESC LIMIT {{maxFresh}})
  UNION ALL
  (SELECT ticket_id FROM messages WHERE state = 'received' ORDER BY due_at LIMIT {{maxInWork}})
) AS changed;
