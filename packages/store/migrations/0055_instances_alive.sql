-- Up Migration

-- Whether a process lives is a subquery of each drain. Read by this index alone, it needs no scan of the table, for which
-- PostgreSQL up to 17 adds 1e10 to the cost where `enable_seqscan` is off: that hides every other difference of cost, so
-- that a drain was planned to read all messages.
CREATE INDEX instances_alive ON instances (id, alive_until, alive_since);
