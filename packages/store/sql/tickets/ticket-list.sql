-- name: listMatches
-- One more than are looked up one by one, so that the answer also says whether the words are frequent.
SELECT ticket_id FROM ticket_texts WHERE document @@ :text::tsquery AND project_id = :project LIMIT {{maxMatches1}};

-- name: listFresh
-- Tickets that ticket_list may not have as they are: those with an event that it has not followed yet, of the last
-- second or two, and those that are in work. Both are read from the end of an index.
SELECT DISTINCT ticket_id FROM (
  (SELECT ticket_id FROM ticket_events WHERE id > (SELECT settled_id FROM ticket_index)
   ORDER BY id DESC LIMIT {{maxFresh}})
  UNION ALL
  (SELECT ticket_id FROM messages WHERE state = 'received' ORDER BY due_at LIMIT {{maxInWork}})
) AS changed;
