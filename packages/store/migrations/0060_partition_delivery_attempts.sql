-- Up Migration

-- From now on in partitions by range of the delivery's id, which begins with its time: one for each month, made ahead by the
-- pipeline (ADR 0048). The table that was there becomes the first partition, with no limits until the pipeline gives it an
-- end: so no row is read or moved here, and the version before finds all of them under the same name.
ALTER TABLE delivery_attempts RENAME TO delivery_attempts_first;
CREATE TABLE delivery_attempts (LIKE delivery_attempts_first INCLUDING ALL) PARTITION BY RANGE (delivery_id);
ALTER TABLE delivery_attempts ATTACH PARTITION delivery_attempts_first FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
-- For attempts of a delivery of a month whose partition was dropped because all of its rows were erased.
CREATE TABLE delivery_attempts_default PARTITION OF delivery_attempts DEFAULT;
