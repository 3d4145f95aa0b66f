-- Up Migration

-- Where a message stands in the trace of whoever sent it (W3C `traceparent`), so that the work for it, whenever and by
-- whichever process it is done, is a part of that trace. NULL where nobody traces.
ALTER TABLE messages ADD COLUMN trace text CHECK (length(trace) <= 64);
