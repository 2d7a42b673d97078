-- What the index is compared on: probes of looked_up, and :keys random text keys
-- to fill a table with.

CREATE INDEX looked_up_filter ON looked_up USING bloomfilter (id);

CREATE TABLE random_text AS SELECT md5(x::text) AS k FROM generate_series(1, :keys) x;
COPY random_text TO :'copy';
CREATE TABLE with_filter (k text);
CREATE INDEX ON with_filter USING bloomfilter (k);
CREATE TABLE with_btree (k text);
CREATE INDEX ON with_btree (k);
VACUUM ANALYZE looked_up;
