-- fragment: is_open
-- SQL that is true for a message `m` that is not answered yet.
m.state IN ('received', 'held') AND m.covered_by IS NULL

-- name: begin
-- Locks the chat before a tool call is recorded, unless it exists. Locks the rows of chats that it reads.
SELECT FROM chats WHERE project_id = :home AND ticket_id = :ticket_id AND lease_id = :lease_id AND chat_id <> ''
FOR KEY SHARE;

-- name: findSame
-- The same call of the ticket, if its message is not answered yet.
SELECT {{columns}} FROM tool_calls c JOIN messages m ON m.id = c.message_id
WHERE c.project_id = :project AND c.ticket_id = :ticket_id AND c.call_key = :key AND c.occurrence = :occurrence
  AND (c.message_id = :message_id OR (c.access = 'write' AND {{is_open}}))
ORDER BY c.message_id = :message_id DESC, c.id DESC LIMIT 1;

-- name: moveCall
-- Moves a waiting call to the newest message that requests it. Locks the rows of tool_calls that it writes.
UPDATE tool_calls SET message_id = :message_id WHERE project_id = :project AND id = :id;

-- name: insertCall
-- Inserts a call. Locks the rows of tool_calls that it writes.
INSERT INTO tool_calls AS c (id, project_id, ticket_id, message_id, agent_id, tool, mark, access, call_key,
  occurrence, arguments, state)
VALUES (:id, :project, :ticket_id, :message_id, :agent_id, :tool, :mark, :access, :key, :occurrence, :arguments, :state)
ON CONFLICT (message_id, project_id, call_key, occurrence) DO NOTHING RETURNING {{columns}};

-- name: beginAgain
-- Allows a read-only call to be repeated, since its result is outdated or its worker crashed. Locks the rows of
-- tool_calls that it writes.
UPDATE tool_calls SET state = 'running', result = NULL, duration_ms = NULL, finished_at = NULL
WHERE project_id = :project AND id = :id AND access = 'read' AND decided_at IS NULL AND state <> 'waiting';

-- name: claimApproved
-- Claims an approved call for execution: exactly one worker succeeds, even if it crashes afterwards. Locks the rows of
-- tool_calls that it writes.
UPDATE tool_calls SET state = 'running' WHERE project_id = :project AND id = :id AND state = 'approved' RETURNING id;

-- name: finish
-- Records the result of a call. Locks the rows of tool_calls that it writes.
UPDATE tool_calls SET state = :state, result = :result, duration_ms = :duration_ms, finished_at = now()
WHERE project_id = :project AND id = :id AND state IN ('running', 'unknown');

-- name: giveUp
-- Marks a running call whose worker no longer exists as unknown: it may or may not have been made. Locks the rows of
-- tool_calls that it writes.
UPDATE tool_calls SET state = 'unknown', result = :result, finished_at = now()
WHERE project_id = :project AND id = :id AND state = 'running';

-- name: drop
-- Fails an approved call that is not made because the circumstances of its approval have changed. Locks the rows of
-- tool_calls that it writes.
UPDATE tool_calls SET state = 'failed', result = :result, finished_at = now()
WHERE project_id = :project AND id = :id AND state = 'approved';

-- name: listApproved
-- Calls of a ticket that operators have approved and that have not finished, oldest first.
SELECT {{columns}} FROM tool_calls c
WHERE c.project_id = :project AND c.ticket_id = :ticket_id AND c.state IN ('approved', 'running')
  AND c.decided_at IS NOT NULL ORDER BY c.id;

-- name: listKnown
-- Calls for unanswered messages of a ticket that the next run needs, oldest first, with full results: those that
-- operators have decided on, and those with side effects that were started, whatever the outcome of their run.
SELECT {{columns}} FROM tool_calls c JOIN messages m ON m.id = c.message_id
WHERE c.project_id = :project AND c.ticket_id = :ticket_id AND {{is_open}}
  AND (c.decided_at IS NOT NULL OR (c.access = 'write' AND c.state <> 'waiting'))
ORDER BY c.id DESC LIMIT 20;

-- name: find
-- The call with this id for display, or null.
SELECT {{shown}} FROM tool_calls c WHERE c.project_id = :project AND c.id = :id;

-- name: listOfTicket
-- The newest calls for a ticket for display, oldest first.
SELECT {{shown}} FROM tool_calls c WHERE c.ticket_id = :ticket_id AND c.project_id = :project
ORDER BY c.id DESC LIMIT {{shownMaxCount}};

-- name: decideToolCall
-- Decides on a waiting call, in the transaction of the decision about its ticket. Locks the rows of tool_calls that it
-- writes.
UPDATE tool_calls SET state = :state, decided_by = :actor, decided_at = now()
WHERE project_id = :project AND id = :id AND state = 'waiting' RETURNING id;
