/*-------------------------------------------------------------------------
 *
 * scalable.h
 *	  The scalable Bloom filter (Almeida and others 2007), free of fmgr.
 *
 * Copyright (c) 2026, the bloomfilter developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_SCALABLE_H
#define BF_SCALABLE_H

#include "filter.h"

/* Every probe looks into every layer. */
#define BF_MAX_LAYERS	256

/*
 * One plain filter of the chain.  These fields stand at the start of the
 * payload, one for each layer, oldest first; the layers' bits follow in the
 * same order, each in whole words.
 */
typedef struct BfLayer
{
	uint64		bits;
	uint64		capacity;		/* newly added keys after which it is full */
	uint64		keys;			/* newly added keys it holds */
	float8		fpr;			/* its share of the whole rate */
	uint64		bits_set;
	uint32		hashes;
	uint32		reserved;		/* 0 */
} BfLayer;

StaticAssertDecl(sizeof(BfLayer) == 48, "a layer must have 48 bytes");

extern const BfMethods bf_scalable_methods;

extern BfParamsError bf_scalable_create(int64 capacity, double fpr, int32 growth,
										double tightening, BfScheme scheme,
										BfFilter **filter);

/* Header fields of the kind. */
static inline uint32
bf_scalable_layer_count(const BfFilter *header)
{
	return header->detail;
}

static inline uint64
bf_scalable_growth(const BfFilter *header)
{
	return header->extra[0];
}

static inline double
bf_scalable_tightening(const BfFilter *header)
{
	double		tightening;

	memcpy(&tightening, &header->extra[1], sizeof(tightening));
	return tightening;
}

/* The first of the layers' fields, which are part of the head. */
static inline BfLayer *
bf_scalable_layers(const BfFilter *head)
{
	return (BfLayer *) unconstify(uint8 *, &head->payload[0]);
}

static inline BfGeometry
bf_layer_geometry(const BfLayer *layer)
{
	BfGeometry	geometry;

	geometry.bits = layer->bits;
	geometry.hashes = layer->hashes;
	return geometry;
}

#endif							/* BF_SCALABLE_H */
