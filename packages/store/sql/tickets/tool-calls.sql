-- fragment: is_open
-- SQL that is true for a message `m` that is not answered yet.
m.state IN ('received', 'held') AND m.covered_by IS NULL

-- name: begin
-- Writes down a call in this state, unless it is there already. Locks the rows of chats that it reads.
SELECT FROM chats WHERE project_id = :home AND ticket_id = :ticket_id AND lease_id = :lease_id AND chat_id <> ''
FOR KEY SHARE;

-- name: findSame
-- The same call of the ticket, if its message is not answered yet.
SELECT {{columns}} FROM tool_calls c JOIN messages m ON m.id = c.message_id
WHERE c.project_id = :project AND c.ticket_id = :ticket_id AND c.call_key = :key AND c.occurrence = :occurrence
  AND (c.message_id = :message_id OR (c.access = 'write' AND {{is_open}}))
ORDER BY c.message_id = :message_id DESC, c.id DESC LIMIT 1;

-- name: moveCall
-- Moves a waiting call to the newest message that asks for it. Locks the rows of tool_calls that it writes.
UPDATE tool_calls SET message_id = :message_id WHERE project_id = :project AND id = :id;

-- name: insertCall
-- Inserts a call. Locks the rows of tool_calls that it writes.
INSERT INTO tool_calls AS c (id, project_id, ticket_id, message_id, agent_id, tool, mark, access, call_key,
  occurrence, arguments, state)
VALUES (:id, :project, :ticket_id, :message_id, :agent_id, :tool, :mark, :access, :key, :occurrence, :arguments, :state)
ON CONFLICT (message_id, project_id, call_key, occurrence) DO NOTHING RETURNING {{columns}};

-- name: beginAgain
-- Lets a call that only reads be made again: what it found is old, or its worker died. Locks the rows of tool_calls
-- that it writes.
UPDATE tool_calls SET state = 'running', result = NULL, duration_ms = NULL, finished_at = NULL
WHERE project_id = :project AND id = :id AND access = 'read' AND decided_at IS NULL AND state <> 'waiting';

-- name: takeApproved
-- Takes a call that was approved, to make it: true for one worker alone, whatever happens to that one afterwards. Locks
-- the rows of tool_calls that it writes.
UPDATE tool_calls SET state = 'running' WHERE project_id = :project AND id = :id AND state = 'approved' RETURNING id;

-- name: finish
-- Writes down what came of a call. Locks the rows of tool_calls that it writes.
UPDATE tool_calls SET state = :state, result = :result, duration_ms = :duration_ms, finished_at = now()
WHERE project_id = :project AND id = :id AND state IN ('running', 'unknown');

-- name: giveUp
-- A call that is running although nobody makes it any more: whether it was made, nobody can tell. Locks the rows of
-- tool_calls that it writes.
UPDATE tool_calls SET state = 'unknown', result = :result, finished_at = now()
WHERE project_id = :project AND id = :id AND state = 'running';

-- name: drop
-- An approved call that is not made after all, since what it was approved for has changed. Locks the rows of tool_calls
-- that it writes.
UPDATE tool_calls SET state = 'failed', result = :result, finished_at = now()
WHERE project_id = :project AND id = :id AND state = 'approved';

-- name: listApproved
-- Calls of a ticket that operators have approved and that are not over, oldest first.
SELECT {{columns}} FROM tool_calls c
WHERE c.project_id = :project AND c.ticket_id = :ticket_id AND c.state IN ('approved', 'running')
  AND c.decided_at IS NOT NULL ORDER BY c.id;

-- name: listKnown
-- Calls for the messages of a ticket that are not answered yet that the next run has to know of, oldest first,
-- with the whole result of each: those that operators have decided about, and those that write and were begun, whatever
-- became of the run that has made them.
SELECT {{columns}} FROM tool_calls c JOIN messages m ON m.id = c.message_id
WHERE c.project_id = :project AND c.ticket_id = :ticket_id AND {{is_open}}
  AND (c.decided_at IS NOT NULL OR (c.access = 'write' AND c.state <> 'waiting'))
ORDER BY c.id DESC LIMIT 20;

-- name: find
-- The call with this id as people see it, or null.
SELECT {{shown}} FROM tool_calls c WHERE c.project_id = :project AND c.id = :id;

-- name: listOfTicket
-- The newest calls for a ticket as people see them, oldest first.
SELECT {{shown}} FROM tool_calls c WHERE c.ticket_id = :ticket_id AND c.project_id = :project
ORDER BY c.id DESC LIMIT {{shownMaxCount}};

-- name: decideToolCall
-- Decides about a call that waits, in the transaction of the decision about its ticket. Locks the rows of tool_calls
-- that it writes.
UPDATE tool_calls SET state = :state, decided_by = :actor, decided_at = now()
WHERE project_id = :project AND id = :id AND state = 'waiting' RETURNING id;
