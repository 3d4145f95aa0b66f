-- Up Migration

-- Since when a process has been heard of without a gap: whoever was cut off from the database himself cannot say that
-- another one is dead.
ALTER TABLE instances ADD COLUMN alive_since timestamptz NOT NULL DEFAULT now();
