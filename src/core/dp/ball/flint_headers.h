/* flint_headers.h - the only file that includes FLINT. Version 3 holds Arb; with version 2 it is a library of
 * its own. The functions used here are the same in both. */
#ifndef DP_FLINT_HEADERS_H
#define DP_FLINT_HEADERS_H

#ifdef SOTTO_FLINT3
#include <flint/flint.h>

#include <flint/acb.h>
#include <flint/arb.h>
#include <flint/arb_hypgeom.h>
#else
#include <acb.h>
#include <arb.h>
#include <arb_hypgeom.h>
#include <flint/flint.h>
#endif

#endif
