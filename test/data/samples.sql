-- Values of every type, for the tests of what is stored: dumps, upgrades and
-- whatever else must hold for all types.  A type without a row here fails them.
--
-- type, name   of the value
-- build        the expression that makes it
-- keys         the expression, of type text[], of keys that it must know
-- knows        the expression that says so of one of them: of value and key
-- test/t/020_hostile_input.pl damages those of up to 300 bytes, in all places.
CREATE TABLE samples (type text, name text, build text, keys text, knows text, PRIMARY KEY (type, name));

INSERT INTO samples VALUES
	('bloom', 'small', 'bloom_add_all(bloom_create_with_params(100, 3), ARRAY[1, 2, 3])', '''{1,2,3}''::text[]', 'value @> key'),
	('bloom', 'empty', 'bloom_create(1000)', 'ARRAY[]::text[]', 'value @> key'),
	('bloom', 'one bit', 'bloom_create_with_params(1, 1)', 'ARRAY[]::text[]', 'value @> key'),
	('bloom', 'texts', $$(SELECT bloom_agg('user:' || n, 1000, 0.01) FROM generate_series(1, 1000) n)$$,
		$$ARRAY(SELECT 'user:' || n FROM generate_series(1, 1000) n)$$, 'value @> key'),
	('bloom', 'fnv1a', $$(SELECT bloom_agg(n, bloom_create_with_params(9585059, 7, 'fnv1a')) FROM generate_series(1, 1000) n)$$,
		'ARRAY(SELECT n::text FROM generate_series(1, 1000) n)', 'value @> key'),
	('bloom', '4 MB', $$(SELECT bloom_agg('key:' || n, 2500000, 0.001) FROM generate_series(1, 20000) n)$$,
		$$ARRAY(SELECT 'key:' || n FROM generate_series(1, 20000) n)$$, 'value @> key'),

	('counting_bloom', 'small', 'bloom_add_all(counting_bloom_create_with_params(30, 3), ARRAY[1, 2, 2, 3])', '''{1,2,3}''::text[]', 'value @> key'),
	('counting_bloom', 'empty', 'counting_bloom_create(1000)', 'ARRAY[]::text[]', 'value @> key'),
	('counting_bloom', 'texts', $$(SELECT counting_bloom_agg('user:' || n % 500, 1000, 0.01) FROM generate_series(1, 1000) n)$$,
		$$ARRAY(SELECT 'user:' || n FROM generate_series(0, 499) n)$$, 'value @> key AND bloom_key_count(value, key) >= 2'),
	('counting_bloom', '8 bits, 1 MB', $$(SELECT counting_bloom_agg('key:' || n, counting_bloom_create(100000, 0.01, 8)) FROM generate_series(1, 20000) n)$$,
		$$ARRAY(SELECT 'key:' || n FROM generate_series(1, 20000) n)$$, 'value @> key'),

	('scalable_bloom', 'small', 'bloom_add_all(scalable_bloom_create(2, 0.1), ARRAY[1, 2, 3, 4])', '''{1,2,3,4}''::text[]', 'value @> key'),
	('scalable_bloom', 'empty', 'scalable_bloom_create(1000)', 'ARRAY[]::text[]', 'value @> key'),
	('scalable_bloom', 'one layer', $$(SELECT scalable_bloom_agg('user:' || n, 1000, 0.01) FROM generate_series(1, 500) n)$$,
		$$ARRAY(SELECT 'user:' || n FROM generate_series(1, 500) n)$$, 'value @> key'),
	('scalable_bloom', 'many layers', $$(SELECT scalable_bloom_agg('key:' || n, 100, 0.001) FROM generate_series(1, 100000) n)$$,
		$$ARRAY(SELECT 'key:' || n FROM generate_series(1, 100000) n)$$, 'value @> key'),

	('cuckoo_filter', 'small', 'cuckoo_add_all(cuckoo_create(64, 4), ARRAY[1, 2, 3, 3, 4, 5])', '''{1,2,3,4,5}''::text[]', 'value @> key'),
	('cuckoo_filter', 'empty', 'cuckoo_create(1000)', 'ARRAY[]::text[]', 'value @> key'),
	('cuckoo_filter', 'texts', $$(SELECT cuckoo_agg('key:' || n, 1000) FROM generate_series(1, 5000) n)$$,
		$$ARRAY(SELECT 'key:' || n FROM generate_series(1, 5000) n)$$, 'value @> key'),
	('cuckoo_filter', '16 bits, some removed', $$(SELECT cuckoo_remove_all(cuckoo_add_all(cuckoo_create(2000, 4, 16, 500), ARRAY(SELECT 'key:' || n FROM generate_series(1, 1000) n)),
		ARRAY(SELECT 'key:' || n FROM generate_series(1, 500) n)))$$,
		$$ARRAY(SELECT 'key:' || n FROM generate_series(501, 1000) n)$$, 'value @> key AND cuckoo_key_count(value, key) >= 1'),

	('count_min_sketch', 'small', 'cms_add_all(cms_create(9, 2), ARRAY[1, 2, 2, 3])', '''{1,2,3}''::text[]', 'cms_count(value, key) >= 1'),
	('count_min_sketch', 'empty', 'cms_create_by_error(0.01, 0.01)', 'ARRAY[]::text[]', 'cms_count(value, key) >= 1'),
	('count_min_sketch', 'full', 'cms_add(cms_create(50, 1), ''a'', 9223372036854775807)', '''{a}''::text[]', 'cms_count(value, key) = 9223372036854775807'),
	('count_min_sketch', 'texts', $$(SELECT cms_agg('user:' || n, n, 0.0001, 0.01) FROM generate_series(1, 1000) n)$$,
		$$ARRAY(SELECT 'user:' || n FROM generate_series(1, 1000) n)$$, 'cms_count(value, key) >= substr(key, 6)::int'),

	('top_k', 'small', 'top_k_add_all(top_k_create(2, 0.5, 0.5), ARRAY[''a'', ''b'', ''a'', ''b'', ''''])', '''{a,b}''::text[]', 'key IN (SELECT l.k FROM top_k_list(value) l (rank, k, count, bound))'),
	('top_k', 'empty', 'top_k_create(5)', 'ARRAY[]::text[]', 'top_k_count(value, key) >= 1'),
	('top_k', 'texts', $$(SELECT top_k_agg('user:' || n, n, 20) FROM generate_series(1, 1000) n)$$,
		$$ARRAY(SELECT 'user:' || n FROM generate_series(981, 1000) n)$$, 'EXISTS (SELECT FROM top_k_list(value) l (rank, k, count, bound) WHERE k = key AND substr(key, 6)::int BETWEEN count - bound AND count)');
