/*-------------------------------------------------------------------------
 *
 * scalable.c
 *	  The scalable Bloom filter: a chain of plain filters, each larger and
 *	  stricter than the one before, for a number of keys that is not known.
 *
 * Almeida, Baquero, Preguica and Hutchison, "Scalable Bloom Filters", 2007.
 * Layer i is made for capacity * growth^i keys at the rate
 * p * (1 - tightening) * tightening^i; these rates add up to less than p, so
 * the chain keeps p however long it gets.  With growth and tightening of
 * RedisBloom (2 and 0.5) it is RedisBloom's chain bit for bit.
 *
 * Header: detail = number of layers; extra[0] = growth; extra[1] = tightening,
 * a float8; capacity = of the first layer when it was made; fpr = p; bits and
 * bits_set = sums over the layers; hashes = of the last layer.  Payload: see
 * BfLayer.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#include "scalable.h"

#include "bits.h"
#include "bloom.h"
#include "port/pg_bswap.h"

static uint64
scalable_fields_size(const BfFilter *header)
{
	return header->detail * sizeof(BfLayer);
}

/* Where the bits of the first layer start. */
static inline uint8 *
first_bits(const BfFilter *filter)
{
	return unconstify(uint8 *, &filter->payload[0]) + scalable_fields_size(filter);
}

/* Where the bits of the layer of that number start. */
static uint8 *
layer_bits(const BfFilter *filter, uint32 number)
{
	uint8	   *bits = first_bits(filter);

	for (uint32 i = 0; i < number; i++)
		bits += bf_scalable_layers(filter)[i].bits / 8;
	return bits;
}

static void
scalable_swap_fields(BfFilter *filter)
{
#ifndef WORDS_BIGENDIAN
	BfLayer    *layers = bf_scalable_layers(filter);
	uint32		nlayers = scalable_fields_size(filter) / sizeof(BfLayer);

	for (uint32 i = 0; i < nlayers; i++)
	{
		uint64		fpr;

		layers[i].bits = pg_bswap64(layers[i].bits);
		layers[i].capacity = pg_bswap64(layers[i].capacity);
		layers[i].keys = pg_bswap64(layers[i].keys);
		memcpy(&fpr, &layers[i].fpr, sizeof(fpr));
		fpr = pg_bswap64(fpr);
		memcpy(&layers[i].fpr, &fpr, sizeof(fpr));
		layers[i].bits_set = pg_bswap64(layers[i].bits_set);
		layers[i].hashes = pg_bswap32(layers[i].hashes);
		layers[i].reserved = pg_bswap32(layers[i].reserved);
	}
#endif
}

static const char *
scalable_check_header(const BfFilter *header)
{
	double		tightening = bf_scalable_tightening(header);

	if (header->detail < 1 || header->detail > BF_MAX_LAYERS)
		return "The number of layers is out of range.";
	if (header->extra[0] < 1 || header->extra[0] > BF_MAX_GROWTH)
		return "The growth is out of range.";
	if (!(tightening > 0.0 && tightening < 1.0))
		return "The tightening is out of range.";
	return NULL;
}

static const char *
scalable_check_fields(const BfFilter *head)
{
	const BfLayer *layers = bf_scalable_layers(head);
	uint64		bits = 0;
	uint64		bits_set = 0;

	for (uint32 i = 0; i < head->detail; i++)
	{
		const BfLayer *layer = &layers[i];

		/* whole words, so that no layer shares one with the next */
		if (layer->bits < 1 || layer->bits > BF_MAX_BITS || layer->bits % 64 != 0)
			return "The number of bits of a layer is out of range.";
		if (layer->hashes < 1 || layer->hashes > BF_MAX_HASHES)
			return "The number of hashes of a layer is out of range.";
		if (layer->capacity < 1 || layer->capacity > PG_INT64_MAX)
			return "The capacity of a layer is out of range.";
		/* each key set a bit that was not set */
		if (layer->keys > layer->bits_set)
			return "More keys are said to be in a layer than bits are set.";
		if (bf_params_check_fpr(layer->fpr) != BF_PARAMS_OK)
			return "The false positive rate of a layer is out of range.";
		if (layer->bits_set > layer->bits)
			return "More bits of a layer are said to be set than there are.";
		if (layer->reserved != 0)
			return "Reserved fields are set.";
		bits += layer->bits;
		bits_set += layer->bits_set;
	}
	if (bits != head->bits || bits_set != head->bits_set ||
		layers[head->detail - 1].hashes != head->hashes)
		return "The layers do not add up to what the header says.";
	return NULL;
}

static uint64
scalable_payload_size(const BfFilter *head)
{
	/* a layer's bits are whole words */
	return scalable_fields_size(head) + head->bits / 8;
}

static const char *
scalable_check_payload(const BfFilter *filter)
{
	const BfLayer *layers = bf_scalable_layers(filter);
	const uint8 *bits = first_bits(filter);

	for (uint32 i = 0; i < filter->detail; bits += layers[i++].bits / 8)
	{
		if (bf_bits_count(bits, layers[i].bits / 8) != layers[i].bits_set)
			return "The number of bits set in a layer is not what its fields say.";
	}
	return NULL;
}

/*
 * A new, empty filter in the current memory context.
 */
BfParamsError
bf_scalable_create(int64 capacity, double fpr, int32 growth, double tightening,
				   BfScheme scheme, BfFilter **result)
{
	BfGeometry	geometry;
	BfParamsError error;
	BfFilter   *filter;
	BfLayer    *layer;

	if (bf_params_check_fpr(fpr) != BF_PARAMS_OK)
		return BF_PARAMS_FPR;
	if (growth < 1 || growth > BF_MAX_GROWTH)
		return BF_PARAMS_GROWTH;
	/* written so that NaN fails */
	if (!(tightening > 0.0 && tightening < 1.0))
		return BF_PARAMS_TIGHTENING;
	error = bf_params_for_capacity(capacity, fpr * (1.0 - tightening), &geometry);
	if (error == BF_PARAMS_FPR)
		error = BF_PARAMS_FPR_TOO_SMALL;	/* the product underflowed */
	if (error != BF_PARAMS_OK)
		return error;
	if (sizeof(BfLayer) + geometry.bits / 8 > BF_MAX_PAYLOAD)
		return BF_PARAMS_TOO_LARGE;

	filter = bf_format_create(BF_KIND_SCALABLE_BLOOM, sizeof(BfLayer) + geometry.bits / 8,
							  geometry, scheme, (uint64) capacity, fpr);
	filter->detail = 1;
	filter->extra[0] = (uint64) growth;
	memcpy(&filter->extra[1], &tightening, sizeof(tightening));

	layer = bf_scalable_layers(filter);
	layer->bits = geometry.bits;
	layer->capacity = (uint64) capacity;
	layer->fpr = fpr * (1.0 - tightening);
	layer->hashes = geometry.hashes;
	*result = filter;
	return BF_PARAMS_OK;
}

static BfFilter *
scalable_empty_like(const BfFilter *header)
{
	BfFilter   *filter = NULL;

	/* its capacity and rate made a filter before, or the union of two did */
	if (bf_scalable_create((int64) header->capacity, header->fpr,
						   (int32) header->extra[0],
						   bf_scalable_tightening(header),
						   (BfScheme) header->scheme, &filter) != BF_PARAMS_OK)
		return NULL;
	return filter;
}

/* Newest first: it is the largest, and the likeliest to hold a key. */
static bool
scalable_contains(const BfFilter *filter, BfHash hash)
{
	const BfLayer *layers = bf_scalable_layers(filter);
	const uint8 *bits = first_bits(filter) + filter->bits / 8;

	for (int i = (int) filter->detail - 1; i >= 0; i--)
	{
		bits -= layers[i].bits / 8;
		if (bf_positions_are_set(bits, bf_layer_geometry(&layers[i]), hash))
			return true;
	}
	return false;
}

static bool
scalable_contains_by_byte(const BfFilter *head, BfHash hash,
						  BfByteReader reader, void *argument)
{
	const BfLayer *layers = bf_scalable_layers(head);
	uint64		offset = BF_HEADER_SIZE + scalable_payload_size(head);

	for (int i = (int) head->detail - 1; i >= 0; i--)
	{
		offset -= layers[i].bits / 8;
		if (bf_positions_are_set_by_byte(offset, bf_layer_geometry(&layers[i]), hash,
										 reader, argument))
			return true;
	}
	return false;
}

/*
 * Insert an empty layer before the layer of that number, at a new place in
 * memory.  NULL when the filter would break a limit.
 */
static BfFilter *
insert_layer(BfFilter *filter, uint32 number, const BfLayer *layer)
{
	size_t		old_size = (size_t) bf_format_size(filter);
	size_t		new_size = old_size + sizeof(BfLayer) + layer->bits / 8;
	BfLayer    *layers;
	size_t		bits_before;
	uint8	   *old_bits;
	uint8	   *new_bits;

	if (filter->detail >= BF_MAX_LAYERS || filter->bits + layer->bits > BF_MAX_BITS ||
		new_size - BF_HEADER_SIZE > BF_MAX_PAYLOAD)
		return NULL;

	filter = (BfFilter *) repalloc(filter, new_size);
	layers = bf_scalable_layers(filter);
	bits_before = layer_bits(filter, number) - first_bits(filter);

	/* from the end to the front: later layers' bits, earlier ones', fields */
	old_bits = first_bits(filter);
	new_bits = old_bits + sizeof(BfLayer);
	memmove(new_bits + bits_before + layer->bits / 8, old_bits + bits_before,
			filter->bits / 8 - bits_before);
	memmove(new_bits, old_bits, bits_before);
	bf_bytes_zero(new_bits + bits_before, layer->bits / 8);
	memmove(&layers[number + 1], &layers[number],
			(filter->detail - number) * sizeof(BfLayer));
	layers[number] = *layer;
	layers[number].bits_set = 0;

	filter->detail++;
	filter->bits += layer->bits;
	filter->hashes = layers[filter->detail - 1].hashes;
	SET_VARSIZE(filter, new_size);
	return filter;
}

/* The next layer of the chain; NULL when there can be none. */
static BfFilter *
append_layer(BfFilter *filter)
{
	const BfLayer *last = &bf_scalable_layers(filter)[filter->detail - 1];
	BfLayer		next = {0};
	BfGeometry	geometry;

	if (last->capacity > (uint64) PG_INT64_MAX / filter->extra[0])
		return NULL;
	next.capacity = last->capacity * filter->extra[0];
	next.fpr = last->fpr * bf_scalable_tightening(filter);
	if (bf_params_for_capacity((int64) next.capacity, next.fpr, &geometry) != BF_PARAMS_OK)
		return NULL;
	next.bits = geometry.bits;
	next.hashes = geometry.hashes;
	return insert_layer(filter, filter->detail, &next);
}

/* A key that any layer holds, truly or not, is not added again. */
static BfFilter *
scalable_add(BfFilter *filter, BfHash hash)
{
	BfLayer    *last;
	unsigned	fresh;

	if (scalable_contains(filter, hash))
		return filter;
	last = &bf_scalable_layers(filter)[filter->detail - 1];
	if (last->keys >= last->capacity)
	{
		filter = append_layer(filter);
		if (filter == NULL)
			return NULL;
		last = &bf_scalable_layers(filter)[filter->detail - 1];
	}
	fresh = bf_positions_set(first_bits(filter) + (filter->bits - last->bits) / 8,
							 bf_layer_geometry(last), hash);
	last->keys++;
	last->bits_set += fresh;
	filter->bits_set += fresh;
	return filter;
}

/* Prefetch what scalable_add() will look at: of an old layer hardly all positions. */
static void
prefetch_key(const BfFilter *filter, const BfModulus *moduli, BfHash hash)
{
	const BfLayer *layers = bf_scalable_layers(filter);
	const uint8 *bits = first_bits(filter);

	for (uint32 i = 0; i < filter->detail; i++)
	{
		uint32		hashes = layers[i].hashes;
		uint64		h = hash.h1;

		if (i < filter->detail - 1)
			hashes = Min(hashes, BF_PROBE_GROUP);
		for (uint32 j = 0; j < hashes; j++, h += hash.h2)
			bf_prefetch_write(bits + bf_mod(moduli[i], h) / 8);
		bits += layers[i].bits / 8;
	}
}

static BfFilter *
scalable_add_batch(BfFilter *filter, const BfHash *hashes, int count)
{
	enum
	{
		ahead = 8				/* keys: enough to cover a miss */
	};
	BfModulus	moduli[BF_MAX_LAYERS];
	uint32		nmoduli = 0;

	for (int key = 0; key < count + ahead; key++)
	{
		/* layers may have been added */
		for (; nmoduli < filter->detail; nmoduli++)
			moduli[nmoduli] = bf_modulus(bf_scalable_layers(filter)[nmoduli].bits);
		if (key < count)
			prefetch_key(filter, moduli, hashes[key]);
		if (key >= ahead)
		{
			filter = scalable_add(filter, hashes[key - ahead]);
			if (filter == NULL)
				return NULL;
		}
	}
	return filter;
}

/* Chains of any geometry can be united: at worst, layers are appended. */
static bool
scalable_same_geometry(const BfFilter *a, const BfFilter *b)
{
	return a->scheme == b->scheme;
}

/* Whether two layers of one filter or two can be one. */
static inline bool
layers_match(const BfLayer *a, const BfLayer *b)
{
	return a->bits == b->bits && a->hashes == b->hashes && a->fpr == b->fpr;
}

/*
 * Find the layer to merge another one with: one that has all its bits already,
 * else one whose rate would stay within what was asked of it or what either
 * has anyway.  Returns the number of layers when there is none.
 */
static uint32
find_layer_to_merge(const BfFilter *filter, const BfLayer *layer, const uint8 *source)
{
	const BfLayer *layers = bf_scalable_layers(filter);
	const uint8 *bits = first_bits(filter);
	uint32		found = filter->detail;

	for (uint32 i = 0; i < filter->detail; bits += layers[i++].bits / 8)
	{
		uint64		bits_set;
		double		allowed;

		if (!layers_match(&layers[i], layer))
			continue;
		bits_set = bf_bits_count_or(bits, source, layer->bits / 8);
		if (bits_set == layers[i].bits_set)
			return i;
		allowed = bf_fpr_for_fill(bf_layer_geometry(layer),
								  Max(layers[i].bits_set, layer->bits_set));
		if (found == filter->detail &&
			bf_fpr_for_fill(bf_layer_geometry(layer), bits_set) <= Max(layer->fpr, allowed))
			found = i;
	}
	return found;
}

/* Merge a layer, whose bits are source, into the layer of that number. */
static void
merge_layer(BfFilter *filter, uint32 number, const BfLayer *layer, const uint8 *source)
{
	BfLayer    *target = &bf_scalable_layers(filter)[number];
	uint64		before = target->bits_set;
	uint64		keys = target->keys + layer->keys;
	double		count;

	target->bits_set = bf_bits_or(layer_bits(filter, number), source, layer->bits / 8);
	filter->bits_set += target->bits_set - before;

	/* how many keys they share is not known, only estimated */
	count = bf_count_for_fill(bf_layer_geometry(target), target->bits_set);
	if (count < (double) keys)
		keys = (uint64) count;
	/* no less than in either, and each set a bit */
	keys = Max(keys, Max(target->keys, layer->keys));
	target->keys = Min(keys, target->bits_set);
	target->capacity = Max(target->capacity, layer->capacity);
}

/*
 * Take one layer of another filter in.  If it cannot be merged it becomes a
 * layer of its own, before the first of greater capacity, so that the chain
 * goes on growing from its largest layer.
 */
static BfFilter *
take_layer(BfFilter *filter, const BfLayer *layer, const uint8 *source)
{
	uint32		number = find_layer_to_merge(filter, layer, source);
	const BfLayer *layers = bf_scalable_layers(filter);

	if (number < filter->detail)
	{
		merge_layer(filter, number, layer, source);
		return filter;
	}

	number = 0;
	while (number < filter->detail && layers[number].capacity <= layer->capacity)
		number++;
	filter = insert_layer(filter, number, layer);
	if (filter == NULL)
		return NULL;
	memcpy(layer_bits(filter, number), source, layer->bits / 8);
	bf_scalable_layers(filter)[number].bits_set = layer->bits_set;
	filter->bits_set += layer->bits_set;
	return filter;
}

/* What the chain was made for becomes the larger of both, whatever the order. */
static void
widen_chain(BfFilter *target, const BfFilter *source)
{
	double		tightening;

	bf_filter_widen_promise(target, source);
	target->extra[0] = Max(target->extra[0], source->extra[0]);
	tightening = Min(bf_scalable_tightening(target), bf_scalable_tightening(source));
	memcpy(&target->extra[1], &tightening, sizeof(tightening));
}

static BfFilter *
scalable_unite(BfFilter *target, const BfFilter *source)
{
	const BfLayer *layers = bf_scalable_layers(source);

	/* the layer of an empty filter would only be in the way */
	if (target->bits_set == 0)
	{
		BfFilter	made_for;
		size_t		size = (size_t) bf_format_size(source);

		memcpy(&made_for, target, BF_HEADER_SIZE);
		target = (BfFilter *) repalloc(target, size);
		bf_bytes_copy(target, source, size);
		widen_chain(target, &made_for);
		return target;
	}

	for (uint32 i = 0; i < source->detail; i++)
	{
		if (layers[i].bits_set == 0)
			continue;
		target = take_layer(target, &layers[i], layer_bits(source, i));
		if (target == NULL)
			return NULL;
	}
	widen_chain(target, source);
	return target;
}

/* Each key is in one layer, so the layers' counts add up. */
static double
scalable_count(const BfFilter *head)
{
	const BfLayer *layers = bf_scalable_layers(head);
	double		count = 0.0;

	for (uint32 i = 0; i < head->detail; i++)
		count += bf_count_for_fill(bf_layer_geometry(&layers[i]), layers[i].bits_set);
	return count;
}

/*
 * An absent key passes unless every layer rejects it: each at its present
 * rate, but at no less than some share of what was asked of it.
 */
static double
compound_fpr(const BfFilter *head, double share)
{
	const BfLayer *layers = bf_scalable_layers(head);
	double		rejected = 1.0;

	for (uint32 i = 0; i < head->detail; i++)
		rejected *= 1.0 - Max(share * layers[i].fpr,
							  bf_fpr_for_fill(bf_layer_geometry(&layers[i]),
											  layers[i].bits_set));
	return 1.0 - rejected;
}

static double
scalable_fpr(const BfFilter *head)
{
	return compound_fpr(head, 0.0);
}

/*
 * When each layer is as full as it may get.  Of a chain that only grew this is
 * below fpr; of a union that had to append layers it may be more.
 */
static double
scalable_fpr_bound(const BfFilter *head)
{
	return Max(head->fpr, compound_fpr(head, 1.0));
}

const BfMethods bf_scalable_methods = {
	.format = {
		.type_name = "scalable_bloom",
		.check_header = scalable_check_header,
		.fields_size = scalable_fields_size,
		.swap_fields = scalable_swap_fields,
		.check_fields = scalable_check_fields,
		.payload_size = scalable_payload_size,
		.check_payload = scalable_check_payload
	},
	.empty_like = scalable_empty_like,
	.contains = scalable_contains,
	.contains_by_byte = scalable_contains_by_byte,
	.add = scalable_add,
	.add_batch = scalable_add_batch,
	.same_geometry = scalable_same_geometry,
	.unite = scalable_unite,
	.count = scalable_count,
	.fpr = scalable_fpr,
	.fpr_bound = scalable_fpr_bound
};
