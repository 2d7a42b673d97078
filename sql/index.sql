----------------------------------------------------------------------------
-- The access method bloomfilter: a filter that maintains itself
----------------------------------------------------------------------------

CREATE FUNCTION bloom_index_handler(internal) RETURNS index_am_handler
	AS 'MODULE_PATHNAME', 'bf_index_handler'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_index_handler(internal) IS 'handler of access method bloomfilter';

CREATE ACCESS METHOD bloomfilter TYPE INDEX HANDLER bloom_index_handler;
COMMENT ON ACCESS METHOD bloomfilter IS 'one Bloom filter over a column, asked by bloom_index_contains';

-- Equal values of a family have equal key bytes, whatever their types.

CREATE OPERATOR FAMILY integer_ops USING bloomfilter;
COMMENT ON OPERATOR FAMILY integer_ops USING bloomfilter IS 'equality of integers of any size';
CREATE OPERATOR CLASS int2_ops DEFAULT FOR TYPE int2 USING bloomfilter FAMILY integer_ops AS
	OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS int2_ops USING bloomfilter IS 'filter of int2 keys';
CREATE OPERATOR CLASS int4_ops DEFAULT FOR TYPE int4 USING bloomfilter FAMILY integer_ops AS
	OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS int4_ops USING bloomfilter IS 'filter of int4 keys';
CREATE OPERATOR CLASS int8_ops DEFAULT FOR TYPE int8 USING bloomfilter FAMILY integer_ops AS
	OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS int8_ops USING bloomfilter IS 'filter of int8 keys';
ALTER OPERATOR FAMILY integer_ops USING bloomfilter ADD
	OPERATOR 1 pg_catalog.= (int2, int4), OPERATOR 1 pg_catalog.= (int2, int8),
	OPERATOR 1 pg_catalog.= (int4, int2), OPERATOR 1 pg_catalog.= (int4, int8),
	OPERATOR 1 pg_catalog.= (int8, int2), OPERATOR 1 pg_catalog.= (int8, int4);

CREATE OPERATOR FAMILY float_ops USING bloomfilter;
COMMENT ON OPERATOR FAMILY float_ops USING bloomfilter IS 'equality of floats of either size';
CREATE OPERATOR CLASS float4_ops DEFAULT FOR TYPE float4 USING bloomfilter FAMILY float_ops AS
	OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS float4_ops USING bloomfilter IS 'filter of float4 keys';
CREATE OPERATOR CLASS float8_ops DEFAULT FOR TYPE float8 USING bloomfilter FAMILY float_ops AS
	OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS float8_ops USING bloomfilter IS 'filter of float8 keys';
ALTER OPERATOR FAMILY float_ops USING bloomfilter ADD
	OPERATOR 1 pg_catalog.= (float4, float8), OPERATOR 1 pg_catalog.= (float8, float4);

CREATE OPERATOR FAMILY text_ops USING bloomfilter;
COMMENT ON OPERATOR FAMILY text_ops USING bloomfilter IS 'equality of text, varchar and name';
CREATE OPERATOR CLASS text_ops DEFAULT FOR TYPE text USING bloomfilter FAMILY text_ops AS
	OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS text_ops USING bloomfilter IS 'filter of text keys';
CREATE OPERATOR CLASS name_ops DEFAULT FOR TYPE name USING bloomfilter FAMILY text_ops AS
	OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS name_ops USING bloomfilter IS 'filter of name keys';
ALTER OPERATOR FAMILY text_ops USING bloomfilter ADD
	OPERATOR 1 pg_catalog.= (text, name), OPERATOR 1 pg_catalog.= (name, text);

CREATE OPERATOR CLASS bpchar_ops DEFAULT FOR TYPE bpchar USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS bpchar_ops USING bloomfilter IS 'filter of bpchar keys';
CREATE OPERATOR CLASS bytea_ops DEFAULT FOR TYPE bytea USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS bytea_ops USING bloomfilter IS 'filter of bytea keys';
CREATE OPERATOR CLASS numeric_ops DEFAULT FOR TYPE numeric USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS numeric_ops USING bloomfilter IS 'filter of numeric keys';
CREATE OPERATOR CLASS oid_ops DEFAULT FOR TYPE oid USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS oid_ops USING bloomfilter IS 'filter of oid keys';
CREATE OPERATOR CLASS bool_ops DEFAULT FOR TYPE bool USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS bool_ops USING bloomfilter IS 'filter of bool keys';
CREATE OPERATOR CLASS uuid_ops DEFAULT FOR TYPE uuid USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS uuid_ops USING bloomfilter IS 'filter of uuid keys';
CREATE OPERATOR CLASS date_ops DEFAULT FOR TYPE date USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS date_ops USING bloomfilter IS 'filter of date keys';
CREATE OPERATOR CLASS timestamp_ops DEFAULT FOR TYPE timestamp USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS timestamp_ops USING bloomfilter IS 'filter of timestamp keys';
CREATE OPERATOR CLASS timestamptz_ops DEFAULT FOR TYPE timestamptz USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS timestamptz_ops USING bloomfilter IS 'filter of timestamptz keys';
CREATE OPERATOR CLASS inet_ops DEFAULT FOR TYPE inet USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS inet_ops USING bloomfilter IS 'filter of inet keys';
CREATE OPERATOR CLASS macaddr_ops DEFAULT FOR TYPE macaddr USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS macaddr_ops USING bloomfilter IS 'filter of macaddr keys';
CREATE OPERATOR CLASS macaddr8_ops DEFAULT FOR TYPE macaddr8 USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS macaddr8_ops USING bloomfilter IS 'filter of macaddr8 keys';

-- Types whose key is a hash.

CREATE OPERATOR CLASS jsonb_ops DEFAULT FOR TYPE jsonb USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS jsonb_ops USING bloomfilter IS 'filter of jsonb keys';
CREATE OPERATOR CLASS interval_ops DEFAULT FOR TYPE interval USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS interval_ops USING bloomfilter IS 'filter of interval keys';
CREATE OPERATOR CLASS time_ops DEFAULT FOR TYPE time USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS time_ops USING bloomfilter IS 'filter of time keys';
CREATE OPERATOR CLASS timetz_ops DEFAULT FOR TYPE timetz USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS timetz_ops USING bloomfilter IS 'filter of timetz keys';
CREATE OPERATOR CLASS pg_lsn_ops DEFAULT FOR TYPE pg_lsn USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS pg_lsn_ops USING bloomfilter IS 'filter of pg_lsn keys';
CREATE OPERATOR CLASS xid8_ops DEFAULT FOR TYPE xid8 USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS xid8_ops USING bloomfilter IS 'filter of xid8 keys';
CREATE OPERATOR CLASS range_ops DEFAULT FOR TYPE anyrange USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS range_ops USING bloomfilter IS 'filter of anyrange keys';
CREATE OPERATOR CLASS multirange_ops DEFAULT FOR TYPE anymultirange USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS multirange_ops USING bloomfilter IS 'filter of anymultirange keys';
CREATE OPERATOR CLASS record_ops DEFAULT FOR TYPE record USING bloomfilter AS OPERATOR 1 pg_catalog.=;
COMMENT ON OPERATOR CLASS record_ops USING bloomfilter IS 'filter of record keys';

CREATE FUNCTION bloom_index_contains(index regclass, key anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bf_index_contains'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 20;
COMMENT ON FUNCTION bloom_index_contains(regclass, anycompatible) IS 'whether the key may be in the table of a bloomfilter index; false is certain';

CREATE FUNCTION bloom_index_contains_each(index regclass, keys anyarray) RETURNS boolean[]
	AS 'MODULE_PATHNAME', 'bf_index_contains_each'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100;
COMMENT ON FUNCTION bloom_index_contains_each(regclass, anyarray) IS 'for each key in the array whether it may be in the table of a bloomfilter index';

CREATE FUNCTION bloom_index_info(index regclass,
	OUT layers integer, OUT pages bigint, OUT size_bytes bigint, OUT capacity bigint,
	OUT target_fpr float8, OUT fill float8, OUT estimated_count float8,
	OUT estimated_fpr float8, OUT live_rows float8, OUT dead_keys float8)
	AS 'MODULE_PATHNAME', 'bf_index_info'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION bloom_index_info(regclass) IS 'what is in a bloomfilter index; reads all of it';
